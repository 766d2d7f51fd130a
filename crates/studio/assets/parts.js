// The training, validation and test parts: two handles on a bar, moved by mouse, finger, arrow keys or numbers.
import { keepChoice, refreshRecords } from "./api.js";
import { attempt, field, make } from "./dom.js";

const PARTS = [["train", "training"], ["validation", "validation"], ["test", "test"]];

// Every experiment is cut at the same shares of its length; those for the test alone are not cut.
function borders({ experiments }, shares) {
  let start = 0;
  const found = [];
  experiments.forEach(({ samples, test }, index) => {
    if (index > 0) found.push({ sample: start, isBorder: true });
    if (!test) shares.forEach((share) => found.push({ sample: start + Math.round(share * samples) }));
    start += samples;
  });
  return found;
}

// `marks` is told where lines belong, in samples of the whole record.
export function partBar(view, marks) {
  const { summary } = view;
  let current = view;
  let shares = summary.split.fractions.split(",").map(Number);
  const ownTest = summary.experiments.filter(({ test }) => test).reduce((sum, { samples }) => sum + samples, 0);
  const spans = PARTS.map(([name]) => make("span", { class: name }));
  const bar = make("div", { class: "split" }, spans);
  const words = make("p", { class: "note", id: "parts" });
  const ends = () => [shares[0], shares[0] + shares[1]];
  const count = (share) => Math.round(share * (summary.samples - ownTest));
  // Files for the test alone leave nothing to cut off for it.
  const names = ["End of the training part", "End of the validation part"].slice(0, ownTest ? 1 : 2);
  const handles = names.map((name, index) => make("button", { type: "button", class: "handle", role: "slider", "data-border": index, "aria-valuemin": "0", "aria-valuemax": "100", "aria-label": name }));
  const numbers = names.map((name, index) => make("input", { type: "number", min: "0", max: "100", step: "0.1", "data-end": index, onchange: () => { place(index, Number(numbers[index].value) / 100); keep(); } }));
  bar.append(...handles);

  function draw() {
    spans.forEach((span, index) => {
      span.style.width = `${100 * shares[index]}%`;
      const [short, long] = [PARTS[index][1].slice(0, 3), PARTS[index][1]];
      span.textContent = shares[index] > 0.15 ? long : shares[index] > 0.08 ? `${short}.` : "";
      span.title = long;
    });
    handles.forEach((handle, index) => {
      const end = 100 * ends()[index];
      handle.style.left = `${end}%`;
      handle.setAttribute("aria-valuenow", String(Math.round(end)));
      handle.setAttribute("aria-valuetext", `${end.toFixed(1)} % of the record`);
      numbers[index].value = Number(end.toFixed(1));
    });
    words.textContent = `${count(shares[0])} samples to train, ${count(shares[1])} to validate, ${count(shares[2]) + ownTest} to test${ownTest ? ", in files of their own" : ""}.`;
    marks(borders(summary, ends().slice(0, names.length)));
  }
  function place(index, share) {
    const all = ends();
    const [low, high] = index === 0 ? [0.02, all[1]] : [all[0], 1];
    all[index] = Math.min(Math.max(Math.round(share * 1000) / 1000 || 0, low), high);
    shares = [all[0], all[1] - all[0], 1 - all[1]].map((value) => Number(value.toFixed(6)));
    draw();
  }
  // One at a time, until what is kept is what is shown: of two at once, the server might keep the older one.
  let kept = shares.join(",");
  let isKeeping = false;
  const keep = attempt(async () => {
    if (isKeeping || shares.join(",") === kept) return;
    isKeeping = true;
    bar.setAttribute("aria-busy", "true");
    try {
      while (shares.join(",") !== kept) {
        const split = shares.join(",");
        current = await keepChoice(current, { ...current.choice, split });
        kept = split;
        summary.split = current.summary.split;
        Object.assign(view, { choice: current.choice, revision: current.revision });
      }
    } finally {
      isKeeping = false;
      bar.removeAttribute("aria-busy");
    }
    await refreshRecords();
  });
  handles.forEach((handle, index) => {
    const share = (event) => {
      const box = bar.getBoundingClientRect();
      return (event.clientX - box.left) / box.width;
    };
    handle.addEventListener("pointerdown", (event) => { event.preventDefault(); handle.focus(); handle.setPointerCapture(event.pointerId); });
    handle.addEventListener("pointermove", (event) => { if (handle.hasPointerCapture(event.pointerId)) place(index, share(event)); });
    handle.addEventListener("pointerup", (event) => { handle.releasePointerCapture(event.pointerId); keep(); });
    handle.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -0.01, ArrowDown: -0.01, ArrowRight: 0.01, ArrowUp: 0.01, PageDown: -0.1, PageUp: 0.1 }[event.key];
      if (!step) return;
      event.preventDefault();
      place(index, ends()[index] + step);
    });
    handle.addEventListener("keyup", keep);
  });
  draw();
  return make("div", {}, make("h3", {}, "Parts"), bar, make("form", { class: "ends", "aria-label": "Parts as numbers", onsubmit: (event) => event.preventDefault() }, numbers.map((input, index) => field(`${names[index]} (%)`, input))), words,
    summary.split.problem ? make("p", { class: "caution" }, summary.split.problem) : null);
}
