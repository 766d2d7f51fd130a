// Models over one recording: their simulations, and the views of an analysis.
import { on, post, state } from "./api.js";
import { VIEWS, refreshAnalysis, showAnalysis } from "./analysis.js";
import { attempt, choice as select, field, fill, make, percent } from "./dom.js";
import { fitTable } from "./fits.js";
import { linked } from "./plot.js";

const panel = document.getElementById("compare");
const controls = make("form", { "aria-label": "What is shown" });
const tabs = make("div", { class: "steps views", role: "tablist", "aria-label": "Views" });
const room = make("div", { id: "view", role: "tabpanel", "aria-live": "off" });
const chart = make("div", { id: "overlay" });
const scores = make("div", {});
const wish = { data: null, part: "test", output: 0, view: "simulation" };

function build() {
  controls.addEventListener("submit", (event) => event.preventDefault());
  const all = [["simulation", "Simulation"], ...VIEWS];
  const buttons = all.map(([id, label]) => make("button", { type: "button", role: "tab", "data-view": id, "aria-controls": "view", onclick: () => choose(id) }, label));
  buttons.forEach((button, index) => button.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = buttons[(index + step + buttons.length) % buttons.length];
    next.focus();
    next.click();
  }));
  fill(tabs, buttons);
  fill(panel, make("h2", {}, "Fits in this workspace"), fitTable, make("h2", {}, "On one recording"), controls, tabs, room);
  mark();
}

function mark() {
  [...tabs.children].forEach((tab) => {
    const isOpen = tab.dataset.view === wish.view;
    tab.setAttribute("aria-selected", String(isOpen));
    tab.tabIndex = isOpen ? 0 : -1;
  });
}

function choose(view) {
  wish.view = view;
  mark();
  show();
}

function showControls(outputs) {
  const records = state.records.map(({ id }) => [id, id]);
  // The recording that a fit on show was made from says most about it.
  const home = state.fits.find((fit) => state.shown.has(fit.name))?.dataset;
  const own = state.records.find(({ id }) => id === home || id.replace(/\.[^.]*$/, "") === home);
  if (!records.some(([id]) => id === wish.data)) wish.data = own?.id ?? state.data ?? records[0]?.[0] ?? null;
  const data = select(records, wish.data, { id: "compare-data", onchange: () => { wish.data = data.value; show(); } });
  const part = select([["test", "test part"], ["all", "whole record"]], wish.part, { id: "compare-part", onchange: () => { wish.part = part.value; show(); } });
  const output = outputs && outputs.length > 1 ? select(outputs.map((name, index) => [index, name]), wish.output, { onchange: () => { wish.output = Number(output.value); show(); } }) : null;
  fill(controls, field("Recording", data), field("Part", part), output ? field("Output", output) : null);
}

let drawn = "";
const show = attempt(async () => {
  showControls();
  const fits = state.fits.map(({ name }) => name).filter((name) => state.shown.has(name)).slice(0, 6);
  if (!fits.length || !wish.data) {
    drawn = "";
    fill(room, make("p", { class: "note" }, "Tick fits in the table to see their simulations with bands here."));
    return;
  }
  // What is shown already keeps its zoom, until a fit or the recording is another one.
  const made = state.fits.filter(({ name }) => fits.includes(name)).map(({ name, seconds, fit_percent }) => [name, seconds, fit_percent]);
  const subject = JSON.stringify([wish.data, wish.part, made, state.records.find(({ id }) => id === wish.data)]);
  const key = subject + wish.view + wish.output;
  if (key === drawn) return;
  drawn = key;
  try {
    if (wish.view === "simulation") await showOverlay(fits);
    else await showAnalysis(room, wish.view, { data: wish.data, part: wish.part, fits }, subject, () => key === drawn);
  } catch (error) {
    if (key === drawn) {
      fill(room);
      drawn = "";
    }
    throw error;
  }
});

async function showOverlay(fits) {
  // As they are now: while its chart stands, it zooms into what it was drawn of.
  const { data, part, output } = wish;
  const ask = (from, to, pixels) => post("/api/overlay", { data, part, fits, output, from, to, pixels });
  const mine = drawn;
  const first = await ask(null, null, 800);
  // Somebody has asked for something else meanwhile.
  if (mine !== drawn) return;
  fill(room, chart, scores);
  showControls(first.outputs);
  const colour = (index) => () => theme.series(index);
  const series = [{ label: "measured", colour: () => theme.colour("measured"), width: 1 }];
  const bands = [];
  first.models.forEach((model, index) => {
    const base = series.length + 1;
    series.push({ label: model.name, colour: colour(index), width: 1.6, dash: index % 2 ? [7, 3] : undefined }, { label: "upper", edge: true, colour: colour(index) }, { label: "lower", edge: true, colour: colour(index) });
    bands.push({ series: [base + 1, base + 2], colour: () => `${theme.series(index)}2e` });
  });
  const columns = (found) => [[found.measured, ...found.models.flatMap((model) => [model.centre, model.upper, model.lower])]];
  const plots = linked(chart, {
    label: `Models on ${data}`, extent: first.extent, step: first.sample_time || 1, height: 320,
    plots: [{ title: first.output, series, bands, legend: true }],
    load: async (from, to, pixels) => {
      const found = await ask(from, to, pixels);
      return { x: found.x, data: columns(found) };
    },
  });
  await plots.all();
  if (mine !== drawn) return;
  const cell = (text) => make("td", { class: "number" }, text);
  fill(scores, make("div", { class: "scroll" }, make("table", {}, make("thead", {}, make("tr", {}, ["model", "fit %", "coverage", "asked", "width"].map((text, index) => make("th", { scope: "col", class: index ? "number" : "" }, text)))),
    make("tbody", {}, first.models.map((model) => make("tr", {}, make("th", { scope: "row" }, model.name, model.diverged ? make("small", { class: "bad" }, "diverged") : null), cell(model.metrics.fit_percent === null ? "–" : model.metrics.fit_percent.toFixed(1)), cell(percent(model.metrics.picp)), cell(percent(model.coverage)), cell(percent(model.metrics.pinaw))))))),
    first.models.flatMap((model) => model.warnings.map((warning) => make("p", { class: "caution" }, `${model.name}: ${warning}`))));
}

build();
on("shown", () => { if (!panel.hidden) show(); });
on("records", () => { if (!panel.hidden) show(); });
on("data", () => { wish.data = state.data; });
on("open-compare", () => { refreshAnalysis(); show(); });
