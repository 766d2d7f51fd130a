// Orders and the queue.
import { at, choicesKept, on, post, state, tell } from "./api.js";
import { attempt, choice as select, field, fill, fitWidth, make, percent, say, seconds } from "./dom.js";
import { candidateTable } from "./candidates.js";
import { FIELDS, KINDS } from "./kinds.js";

const panel = document.getElementById("fit");
const form = make("form", { id: "order", "aria-label": "A fit" });
const queue = make("div", { id: "queue" });
const BUDGETS = [3, 10, 30, 60, 120, 300, 600, 1800];
const wish = { how: "auto", kind: "arx", budget: 4 };
const none = make("p", { class: "note" }, "Nothing was asked for yet. Fits go on when this page is closed.");

function build() {
  fill(panel, make("div", { class: "columns wide-left" }, make("div", {}, make("h2", {}, "A fit"), form), make("div", {}, make("h2", {}, "Queue"), none, queue)));
  form.addEventListener("submit", attempt(submit));
  showForm();
}

// Only the list of recordings: what somebody is typing stays.
function showRecords() {
  const data = form.elements.data;
  const ids = state.records.map(({ id }) => id);
  const shown = [...data.options].map((option) => option.value);
  if (ids.join("\n") !== shown.join("\n")) fill(data, ids.map((id) => make("option", { value: id }, id)));
  if (ids.includes(state.data)) data.value = state.data;
}

function showForm() {
  const data = select(state.records.map(({ id }) => [id, id]), state.data ?? undefined, { name: "data", onchange: () => { state.data = data.value; } });
  const radio = (value, text) => make("label", { class: "check" }, make("input", { type: "radio", name: "how", value, checked: wish.how === value, onchange: () => { wish.how = value; showForm(); } }), text);
  const how = make("fieldset", { class: "wide" }, make("legend", {}, "How"), make("div", {}, radio("auto", "Find the best model"), radio("one", "One kind of model")));
  const name = field("Name of the fit", make("input", { name: "name", maxlength: "80" }), "Empty: after the recording and the model.");
  const coverage = field("Coverage", make("input", { name: "coverage", type: "number", min: "0.5", max: "0.999", step: "any", placeholder: "0.9" }), "Share of the samples that the band should hold.");
  const seed = field("Seed", make("input", { name: "seed", type: "number", min: "0", placeholder: "1" }), "The same seed gives the same model.");
  let own;
  if (wish.how === "auto") {
    const shown = make("output", {}, seconds(BUDGETS[wish.budget]));
    const slider = make("input", { type: "range", name: "budget", min: "0", max: String(BUDGETS.length - 1), value: wish.budget, "aria-label": "Time for the search", "aria-valuetext": seconds(BUDGETS[wish.budget]),
      oninput: () => { wish.budget = Number(slider.value); shown.textContent = seconds(BUDGETS[wish.budget]); slider.setAttribute("aria-valuetext", shown.textContent); } });
    slider.value = wish.budget;
    own = [make("p", { class: "note wide" }, "Tries linear models, networks and hidden states on held-out stretches of the training and validation parts, keeps the best and calibrates its band. The test part is not looked at."),
      make("label", { class: "wide" }, make("span", {}, "Time for the search: ", shown), slider)];
  } else {
    const kind = select(KINDS.map(([value, text]) => [value, text]), wish.kind, { name: "kind", onchange: () => { wish.kind = kind.value; showForm(); } });
    own = [make("div", { class: "wide" }, field("Kind", kind, KINDS.find(([value]) => value === wish.kind)[2])),
      FIELDS.filter(([, , , , has]) => has(wish.kind)).map(([key, label, note]) => field(label, key === "strategy" ? select([["", ""], ["cascade", "cascade"], ["joint", "joint"]], "", { name: key }) : make("input", { name: key }), note)),
      make("label", { class: "check wide" }, make("input", { type: "checkbox", name: "calibrate" }), "Scale the band on held-out stretches (seven more fits)")];
  }
  fill(form, make("div", { class: "wide" }, field("Recording", data)), how, own, name, coverage, seed, make("div", { class: "wide row" }, make("button", { class: "primary", id: "start" }, "Fit")));
}

async function submit(event) {
  event.preventDefault();
  const text = (name) => form.elements[name]?.value.trim() ?? "";
  const settings = {};
  if (text("coverage")) settings.coverage = Number(text("coverage"));
  if (text("seed")) settings.seed = Number(text("seed"));
  if (wish.how === "one") {
    settings.preset = "paper";
    settings.model = wish.kind;
    if (form.elements.calibrate.checked) settings.calibrate = true;
    for (const [key, , , read, has] of FIELDS) if (has(wish.kind) && text(key)) settings[key] = read(text(key));
  }
  // The recording as it is shown here: where it is not shown, whatever is chosen for it.
  await choicesKept();
  const order = { data: text("data"), revision: state.revisions.get(text("data")) ?? null, name: text("name") || null, settings, budget: wish.how === "auto" ? BUDGETS[wish.budget] : null };
  const { name } = await post("/api/jobs", order);
  form.elements.name.value = "";
  say(`'${name}' is in the queue.`);
}

const WORDS = { queued: "waits", running: "is being fitted", done: "done", cancelled: "cancelled", failed: "failed", interrupted: "interrupted" };

// A box is made once per status, so that buttons stay where they are; what changes all the time is filled in.
function jobBox(job) {
  const act = (verb) => attempt(() => post(at("api", "jobs", job.id, verb)));
  const button = (verb, text) => make("button", { type: "button", onclick: act(verb) }, text);
  const isOpen = ["queued", "running"].includes(job.status);
  const buttons = isOpen ? [button("cancel", job.status === "running" ? "End, keep the best so far" : "Cancel")]
    : [job.status === "done" ? make("button", { type: "button", onclick: () => { state.shown.add(job.name); document.getElementById("tab-compare").click(); tell("fits"); } }, "Compare") : button("again", "Run again"), button("forget", "Remove from this list")];
  const progress = make("progress", { max: "1", "aria-label": `Progress of ${job.name}` });
  const [step, steps, losses] = [make("p", { class: "note" }), make("p", { class: "note" }), make("div")];
  const tried = candidateTable();
  const box = make("div", { class: "job", "data-job": job.name, "data-status": job.status },
    make("h3", {}, job.name, " ", make("span", { class: `status-${job.status}` }, WORDS[job.status])),
    make("p", { class: "note" }, `${job.order.data}, ${job.order.settings.model || "best model"}${job.seconds ? `, ${seconds(job.seconds)}` : ""}`),
    job.message ? make("p", { class: job.status === "done" ? "note" : "caution" }, job.message) : null,
    job.status === "running" ? [progress, step, steps, losses, tried.box] : null,
    make("div", { class: "row" }, buttons));
  let curve = null;
  const update = (live) => {
    if (live.share !== null) progress.value = live.share;
    const left = live.seconds_left === null ? "" : `, about ${seconds(live.seconds_left)} left`;
    step.textContent = `${live.step}: ${percent(live.share)} after ${seconds(live.seconds)}${left}`;
    steps.textContent = live.steps.length > 1 ? live.steps.map(([name, at]) => `${seconds(at)} ${name}`).join(" · ") : "";
    tried.update(live);
    if (live.losses.length < 2 || !losses.clientWidth) return;
    const positive = (column) => live.losses.map((point) => point[column] > 0 ? point[column] : null);
    const data = [live.losses.map(([epoch]) => epoch), positive(1), positive(2)];
    if (curve) {
      fitWidth(curve, losses);
      curve.setData(data);
      return;
    }
    const line = (label, index) => ({ label, stroke: theme.series(index), width: 1.5, points: { show: false } });
    curve = new uPlot({
      width: losses.clientWidth, height: 180, scales: { x: { time: false }, y: { distr: 3 } }, cursor: { show: false },
      axes: [charts.axis("epoch"), charts.verticalAxis("loss")], series: [{ label: "epoch" }, line("training", 0), line("validation", 1)],
    }, data, losses);
  };
  return { box, update, drop: () => { if (curve) curve.destroy(); tried.drop(); } };
}

const boxes = new Map();
function showQueue() {
  const shown = new Set();
  for (const job of state.jobs) {
    const key = JSON.stringify([job.id, job.name, job.status, job.message]);
    shown.add(key);
    if (!boxes.has(key)) {
      boxes.set(key, jobBox(job));
      queue.prepend(boxes.get(key).box);
    }
    if (state.live && state.live.id === job.id && job.status === "running") boxes.get(key).update(state.live);
  }
  for (const [key, { box, drop }] of boxes) {
    if (shown.has(key)) continue;
    drop();
    box.remove();
    boxes.delete(key);
  }
  // The newest stands first, whatever has changed last.
  const order = [...state.jobs].reverse().map((job) => boxes.get(JSON.stringify([job.id, job.name, job.status, job.message])).box);
  if (order.some((box, index) => queue.children[index] !== box)) fill(queue, order);
  none.hidden = state.jobs.length > 0;
}

build();
on("records", showRecords);
on("data", showRecords);
on("jobs", showQueue);
