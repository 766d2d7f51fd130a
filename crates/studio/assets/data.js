// Recordings: load, look, choose.
import { at, get, on, post, put, refreshRecords, state, tell } from "./api.js";
import { attempt, choice as select, field, fill, make, number, say, withUnit } from "./dom.js";
import { linked } from "./plot.js";

const panel = document.getElementById("data");
const list = make("ul", { class: "list" });
const detail = make("div", { id: "record" });
let view = null;

function size(bytes) {
  return bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${Math.max(1, Math.round(bytes / 1e3))} kB`;
}

async function take(files) {
  for (const file of files) {
    say(`Reading ${file.name} …`);
    const { id } = await put(at("api", "data", file.name), file);
    await refreshRecords();
    say(`${id} is in the workspace.`);
    await open(id);
  }
}

function build() {
  const input = make("input", { type: "file", multiple: true, id: "upload", onchange: attempt(async () => { await take([...input.files]); input.value = ""; }) });
  const drop = make("label", { class: "drop" }, "Drop files here, or choose", make("small", {}, "csv, tsv, txt, xlsx, mat, npz, npy, parquet"), input);
  for (const [name, isOver] of [["dragenter", true], ["dragover", true], ["dragleave", false], ["drop", false]]) {
    drop.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", isOver);
    });
  }
  drop.addEventListener("drop", attempt((event) => take([...event.dataTransfer.files])));
  fill(panel, make("div", { class: "columns" }, make("div", {}, make("h2", {}, "Recordings"), drop, list), detail));
  fill(detail, make("p", { class: "note" }, "Choose a recording, or load one. The built-in ones are for trying things out."));
}

function showList() {
  fill(list, state.records.map((record) => make("li", {}, make("button", {
    type: "button",
    "data-record": record.id,
    "aria-current": String(record.id === state.data),
    onclick: attempt(() => open(record.id)),
  }, record.id, make("small", {}, record.description || size(record.bytes), record.chosen ? " · columns chosen" : "")))));
}

async function open(id) {
  state.data = id;
  showList();
  view = await get(at("api", "data", id));
  showRecord();
  tell("data");
}

// The choice that the form shows.
function chosen(form) {
  const text = (name) => form.elements[name].value.trim();
  const roles = view.columns.map((column, index) => [column, text(`role-${index}`)]);
  const named = (role) => roles.filter(([, other]) => other === role).map(([column]) => column);
  const options = { ...view.choice.options, inputs: named("input"), outputs: named("output"), missing: text("missing") };
  options.sample_time = text("sample_time") === "" ? null : Number(text("sample_time"));
  // No column of times, though one looks like it, is a choice; otherwise the reader decides.
  options.time = named("time")[0] ?? (view.time_column ? "" : null);
  options.experiment = named("experiment")[0] ?? null;
  options.delimiter = text("delimiter") || null;
  options.decimal = text("decimal");
  options.skip_rows = Number(text("skip_rows") || 0);
  return { options, split: view.choice.split };
}

function roleOf(column) {
  const { inputs, outputs, time, experiment } = view.choice.options;
  // Names in results lack the unit that a column may have in brackets.
  const is = (name) => name === column || column.startsWith(`${name} [`);
  const channel = view.summary?.channels.find(({ name }) => is(name));
  if (channel) return channel.role;
  // A file that could not be read: as it was asked for, by the names that are taken by default where nothing was.
  if (outputs ? outputs.some(is) : /^y\d*( \[|$)/.test(column)) return "output";
  if (inputs ? inputs.some(is) : /^u\d*( \[|$)/.test(column)) return "input";
  if (experiment === column) return "experiment";
  if (time === column || (time === null && column === view.time_column)) return "time";
  return "none";
}

function chooser() {
  const { options } = view.choice;
  const roles = [["input", "input"], ["output", "output"], ["time", "time"], ["experiment", "experiment"], ["none", "not used"]];
  const form = make("form", { id: "chooser", "aria-label": "Columns" },
    view.columns.map((column, index) => field(column, select(roles, roleOf(column), { name: `role-${index}`, "data-column": column }))),
    field("Seconds between samples", make("input", { name: "sample_time", type: "number", step: "any", min: "0", value: options.sample_time ?? "" }), "Empty: from the time column, or not known."),
    field("Where a sample is missing", select([["error", "refuse the file"], ["split", "start a new experiment"]], options.missing, { name: "missing" })),
    field("Cells are separated by", select([["", "as usual"], [",", "comma"], [";", "semicolon"], ["\t", "tab"], [" ", "blank"]], options.delimiter ?? "", { name: "delimiter" })),
    field("Decimal character", select([[".", "point"], [",", "comma"]], options.decimal, { name: "decimal" })),
    field("Rows before the names", make("input", { name: "skip_rows", type: "number", min: "0", value: options.skip_rows })),
    make("div", { class: "wide row" }, make("button", { class: "primary", id: "use" }, "Use these columns")));
  form.addEventListener("submit", attempt(async (event) => {
    event.preventDefault();
    const wish = chosen(form);
    const looked = await post(at("api", "data", view.id, "view"), wish);
    view = looked;
    if (!looked.problem) {
      view = await post(at("api", "data", view.id, "choice"), wish);
      say(`${view.id}: ${view.summary.samples} samples, ready to fit.`);
      await refreshRecords();
      tell("data");
    }
    showRecord();
  }));
  return form;
}

function problem() {
  const { message, line, rows } = view.problem;
  return make("div", { id: "problem" }, make("p", { class: "caution", role: "alert" }, message),
    rows.length ? make("div", { class: "scroll" }, make("table", { class: "rows" }, make("caption", {}, "The rows up to it"),
      make("tbody", {}, rows.map((row) => make("tr", { class: row.line === line ? "here" : "" }, make("th", { scope: "row" }, String(row.line)), make("td", {}, row.text)))))) : null);
}

function statistics() {
  const head = ["", "channel", "least", "greatest", "mean", "std", "longest constant"];
  return make("div", { class: "scroll" }, make("table", { id: "channels" }, make("thead", {}, make("tr", {}, head.map((text, index) => make("th", { scope: "col", class: index > 1 ? "number" : "" }, text)))),
    make("tbody", {}, view.summary.channels.map((channel) => make("tr", {}, make("td", {}, channel.role), make("th", { scope: "row" }, withUnit(channel)),
      [channel.min, channel.max, channel.mean, channel.std, channel.longest_constant].map((value) => make("td", { class: "number" }, number(value))))))));
}

// Two handles on a bar: by mouse, finger or arrow keys.
function splitBar(marks) {
  const { summary } = view;
  let shares = summary.split.fractions.split(",").map(Number);
  const parts = [["train", "training"], ["validation", "validation"], ["test", "test"]];
  const spans = parts.map(([name]) => make("span", { class: name }));
  const bar = make("div", { class: "split" }, spans);
  const words = make("p", { class: "note", id: "parts" });
  const borders = () => [shares[0], shares[0] + shares[1]];
  const count = (share) => Math.round(share * summary.samples);
  const handles = [0, 1].map((index) => make("button", {
    type: "button", class: "handle", role: "slider", "data-border": index, "aria-valuemin": "0", "aria-valuemax": "100",
    "aria-label": index === 0 ? "End of the training part" : "End of the validation part",
  }));
  bar.append(...handles);

  function draw() {
    spans.forEach((span, index) => {
      span.style.width = `${100 * shares[index]}%`;
      span.textContent = parts[index][1];
    });
    borders().forEach((border, index) => {
      handles[index].style.left = `${100 * border}%`;
      handles[index].setAttribute("aria-valuenow", String(Math.round(100 * border)));
      handles[index].setAttribute("aria-valuetext", `${(100 * border).toFixed(0)} % of the record`);
    });
    words.textContent = `${count(shares[0])} samples to train, ${count(shares[1])} to validate, ${count(shares[2])} to test.`;
    marks(borders().map(count));
  }
  function place(index, share) {
    const all = borders();
    const [low, high] = index === 0 ? [0.02, all[1]] : [all[0], 1];
    all[index] = Math.min(Math.max(Math.round(share * 1000) / 1000, low), high);
    shares = [all[0], all[1] - all[0], 1 - all[1]].map((value) => Number(value.toFixed(6)));
    draw();
  }
  const keep = attempt(async () => {
    const split = shares.join(",");
    if (split === summary.split.fractions) return;
    view = await post(at("api", "data", view.id, "choice"), { options: view.choice.options, split });
    summary.split = view.summary.split;
    await refreshRecords();
  });
  handles.forEach((handle, index) => {
    const at = (event) => {
      const box = bar.getBoundingClientRect();
      return (event.clientX - box.left) / box.width;
    };
    handle.addEventListener("pointerdown", (event) => { event.preventDefault(); handle.focus(); handle.setPointerCapture(event.pointerId); });
    handle.addEventListener("pointermove", (event) => { if (handle.hasPointerCapture(event.pointerId)) place(index, at(event)); });
    handle.addEventListener("pointerup", (event) => { handle.releasePointerCapture(event.pointerId); keep(); });
    handle.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -0.01, ArrowRight: 0.01, PageDown: -0.1, PageUp: 0.1 }[event.key];
      if (!step) return;
      event.preventDefault();
      place(index, borders()[index] + step);
    });
    handle.addEventListener("keyup", keep);
  });
  draw();
  return make("div", {}, make("h3", {}, "Parts"), bar, words, summary.split.problem ? make("p", { class: "caution" }, summary.split.problem) : null);
}

function showRecord() {
  const children = [make("h2", {}, view.id)];
  if (view.problem) children.push(problem());
  if (view.guessed && view.summary && view.choice.options.inputs) {
    children.push(make("p", { class: "caution" }, "No column is named u or y: the last one was taken for the output and the others for inputs. Look whether that is right."));
  }
  if (view.columns.length) children.push(make("details", { open: Boolean(view.problem || view.guessed) }, make("summary", {}, "Columns and how the file is read"), chooser()));
  if (!view.summary) {
    fill(detail, children);
    return;
  }
  const { summary } = view;
  const clock = summary.sample_time ? `, one every ${number(summary.sample_time)} s` : "";
  const several = summary.experiments.length > 1 ? ` in ${summary.experiments.length} experiments` : "";
  children.push(make("p", {}, `${summary.samples} samples${several}${clock}.`));
  children.push(...summary.warnings.map((warning) => make("p", { class: "caution warning" }, warning)));
  const box = make("div", { id: "tracks" });
  let borders = [];
  let plots = null;
  const bar = splitBar((samples) => { borders = samples; if (plots) plots.marks(); });
  children.push(box, bar, make("h3", {}, "Channels"), statistics(),
    make("div", { class: "row" }, make("button", { type: "button", class: "primary", onclick: () => document.getElementById("tab-fit").click() }, "Fit a model to it")));
  fill(detail, children);
  const current = view;
  plots = linked(box, {
    label: `Channels of ${current.id}`,
    extent: [0, summary.samples],
    step: summary.sample_time || 1,
    height: 110,
    marks: () => borders,
    plots: summary.channels.map((channel) => ({
      title: `${channel.role} ${withUnit(channel)}`,
      series: [{ label: channel.name, colour: () => channel.role === "input" ? theme.series(4) : theme.colour("prediction"), width: 1 }],
    })),
    load: async (from, to, pixels) => {
      const query = new URLSearchParams({ from, to, pixels, choice: JSON.stringify(current.choice) });
      const { x, lines } = await get(`${at("api", "data", current.id, "series")}?${query}`);
      return { x, data: lines.map((line) => [line]) };
    },
  });
  plots.all().catch((error) => say(error.message, "error"));
}

build();
on("records", showList);
