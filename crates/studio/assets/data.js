// Recordings: load, look, choose.
import { at, choicesKept, get, on, put, refreshRecords, state, tell } from "./api.js";
import { chooser } from "./chooser.js";
import { attempt, fill, make, number, say, withUnit } from "./dom.js";
import { partBar } from "./parts.js";
import { placeList, placeMarks } from "./places.js";
import { linked } from "./plot.js";
import { preparer } from "./prepare.js";

const panel = document.getElementById("data");
const list = make("ul", { class: "list" });
const detail = make("div", { id: "record" });
let view = null;
// The recording that was clicked last: answers about others come too late.
let wanted = null;

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
  wanted = id;
  state.data = id;
  showList();
  await choicesKept();
  const found = await get(at("api", "data", id));
  if (id !== wanted) return;
  view = found;
  state.revisions.set(id, view.revision);
  showRecord();
  tell("data");
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

function showRecord() {
  const children = [make("h2", {}, view.id)];
  if (view.problem) children.push(problem());
  if (view.guessed && view.summary && view.choice.options.inputs) {
    children.push(make("p", { class: "caution" }, "No column is named u or y: the last one was taken for the output and the others for inputs. Look whether that is right."));
  }
  if (view.columns.length) children.push(make("details", { open: Boolean(view.problem || view.guessed) }, make("summary", {}, "Columns, units, further files, and how they are read"), chooser(view, taken)));
  const prepares = Boolean(view.choice.options.prepare && Object.keys(view.choice.options.prepare).length) || (view.choice.detrend ?? []).length > 0;
  if (view.columns.length) children.push(make("details", { open: Boolean(view.problem) || prepares }, make("summary", {}, "Prepare: gaps, spikes, thinning out, drift"), preparer(view, taken)));
  if (!view.summary) {
    fill(detail, children);
    return;
  }
  const current = view;
  const { summary } = current;
  const clock = summary.sample_time ? `, one every ${number(summary.sample_time)} s` : "";
  const several = summary.experiments.length > 1 ? ` in ${summary.experiments.length} experiments` : "";
  const files = [current.id, ...current.choice.more ?? [], ...current.choice.test ?? []];
  children.push(make("p", { id: "samples" }, `${summary.samples} samples${several}${clock}${files.length > 1 ? `, of ${files.join(", ")}` : ""}.`));
  if (summary.preparation.length) children.push(make("ul", { id: "prepared" }, summary.preparation.map((text) => make("li", {}, text))));
  children.push(...summary.warnings.map((warning) => make("p", { class: "caution warning" }, warning)));
  const box = make("div", { id: "tracks" });
  const before = make("input", { type: "checkbox", id: "before", checked: true, onchange: () => attempt(() => plots.show())() });
  const go = (place) => plots.go(place.start, place.end);
  if (prepares) children.push(make("label", { class: "check" }, before, "Show the recording as it was, thin and grey, behind what became of it"));
  let borders = [];
  let plots = null;
  const bar = partBar(current, (found) => { borders = found; if (plots) plots.marks(); });
  children.push(box, placeList(summary.places, go), bar, make("h3", {}, "Channels"), statistics(),
    make("div", { class: "row" }, make("button", { type: "button", class: "primary", onclick: () => document.getElementById("tab-fit").click() }, "Fit a model to it")));
  fill(detail, children);
  plots = linked(box, {
    label: `Channels of ${current.id}`,
    extent: [0, summary.samples],
    step: summary.sample_time || 1,
    height: 110,
    marks: () => borders,
    plots: summary.channels.map((channel, index) => ({
      title: `${channel.role} ${withUnit(channel)}`,
      plugins: [placeMarks(summary.places.shown, index, summary.sample_time || 1, go)],
      series: [...prepares ? [{ label: `${channel.name}, as recorded`, colour: () => theme.colour("muted"), width: 0.7 }] : [],
        { label: channel.name, colour: () => channel.role === "input" ? theme.series(4) : theme.colour("prediction"), width: 1 }],
    })),
    load: async (from, to, pixels) => {
      const query = new URLSearchParams({ from, to, pixels, before: prepares && before.checked, choice: JSON.stringify(current.choice) });
      const after = await get(`${at("api", "data", current.id, "series")}?${query}`);
      if (!prepares) return { x: after.x, data: after.lines.map((line) => [line]) };
      // Thinned samples and those before have other places on the axis.
      const was = after.before ?? { x: [], lines: after.lines.map(() => []) };
      const [x, ...lines] = uPlot.join([[after.x, ...after.lines], [was.x, ...was.lines]]);
      return { x, data: after.lines.map((_, index) => [lines[after.lines.length + index], lines[index]]) };
    },
  });
  plots.all().catch((error) => say(error.message, "error"));
}

// What the form was sent for: a file that can be read so, or what is wrong.
function taken(looked) {
  if (looked.id !== wanted) return;
  view = looked;
  showRecord();
  if (!looked.problem) tell("data");
}

build();
on("records", showList);
