// The table of fits, and models over one recording.
import { at, on, post, refreshFits, state, tell } from "./api.js";
import { attempt, choice as select, field, fill, make, number, percent, say, seconds } from "./dom.js";
import { linked } from "./plot.js";

const panel = document.getElementById("compare");
const table = make("div", { id: "fits" });
const controls = make("form", { "aria-label": "What is shown" });
const chart = make("div", { id: "overlay" });
const scores = make("div", {});
const shown = new Set();
let known = null;
const wish = { data: null, part: "test", output: 0 };

function build() {
  controls.addEventListener("submit", (event) => event.preventDefault());
  fill(panel, make("h2", {}, "Fits in this workspace"), table, make("h2", {}, "On one recording"), controls, chart, scores);
}

const COLUMNS = [["fit %", "Share of the movement that the simulation explains; 100 is perfect"], ["coverage", "Share of the test samples inside the band, and what was asked"], ["width", "Mean width of the band over the range of the output"],
  ["score", "Interval score in the output's unit: width, plus a price for every miss; lower is better"], ["RMSE", "In the output's unit"], ["parameters", ""], ["time", "To fit"]];

function row(fit, judged) {
  const check = make("input", { type: "checkbox", "aria-label": `Show ${fit.name}`, checked: shown.has(fit.name), onchange: () => { check.checked ? shown.add(fit.name) : shown.delete(fit.name); showOverlay(); } });
  const rename = attempt(async () => {
    const to = window.prompt(`A new name for ${fit.name}`, fit.name);
    if (!to || to === fit.name) return;
    await post(at("api", "fits", fit.name, "rename"), { to });
    if (shown.delete(fit.name)) shown.add(to);
    await refreshFits();
  });
  const discard = attempt(async () => {
    const { bin } = await post(at("api", "fits", fit.name, "discard"));
    shown.delete(fit.name);
    await refreshFits();
    say(`'${fit.name}' is in the bin.`, "", { label: "Bring it back", act: attempt(async () => { await post(at("api", "bin", bin, "restore")); await refreshFits(); }) });
  });
  const cell = (text) => make("td", { class: "number" }, text);
  const numbers = fit.problem ? [make("td", { colspan: "7", class: "bad" }, fit.problem)]
    : [cell(fit.fit_percent === null ? "–" : fit.fit_percent.toFixed(1)), cell(`${percent(fit.picp)} of ${percent(fit.coverage)}`), cell(percent(fit.pinaw)), cell(number(fit.interval_score)), cell(number(fit.rmse)), cell(String(fit.parameters)), cell(seconds(fit.seconds))];
  return make("tr", { "data-fit": fit.name }, make("td", {}, check), make("th", { scope: "row" }, fit.name, fit.judged_on && judged.get(fit.dataset) !== fit.judged_on ? make("small", {}, "judged on other samples") : null),
    make("td", {}, fit.model, make("small", {}, fit.dataset)), numbers,
    make("td", {}, make("div", { class: "row" }, fit.has_report ? make("a", { href: at("fits", fit.name, "report"), target: "_blank", rel: "noopener" }, "Report") : null,
      make("button", { type: "button", onclick: rename, "aria-label": `Rename ${fit.name}` }, "Rename"), make("button", { type: "button", onclick: discard, "aria-label": `Delete ${fit.name}` }, "Delete"))));
}

function showTable() {
  if (!state.fits.length) {
    fill(table, make("p", { class: "note" }, "There are no fits yet. Those that `intervalid fit --out` writes into this folder appear here, too."));
  } else {
    const judged = new Map();
    state.fits.forEach((fit) => { if (!judged.has(fit.dataset)) judged.set(fit.dataset, fit.judged_on); });
    fill(table, make("div", { class: "scroll" }, make("table", {}, make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "show"), make("th", { scope: "col" }, "fit"), make("th", { scope: "col" }, "model, data"),
      COLUMNS.map(([text, title]) => make("th", { scope: "col", class: "number" }, title ? make("abbr", { title }, text) : text)), make("th", { scope: "col" }, ""))),
    make("tbody", {}, state.fits.map((fit) => row(fit, judged))))),
    make("p", { class: "note" }, "Numbers are of the test part, which no fit has seen. Whoever chooses by them has used it up: keep another recording to be sure."));
  }
  if (state.bin.length) {
    table.append(make("details", {}, make("summary", {}, `Bin (${state.bin.length})`), make("ul", {}, state.bin.map((name) => make("li", {}, name, " ", make("button", { type: "button", onclick: attempt(async () => { await post(at("api", "bin", name, "restore")); await refreshFits(); }) }, "Bring it back"))))));
  }
}

function showControls(outputs) {
  const records = state.records.map(({ id }) => [id, id]);
  // The recording that a fit on show was made from says most about it.
  const home = state.fits.find((fit) => shown.has(fit.name))?.dataset;
  const own = state.records.find(({ id }) => id === home || id.replace(/\.[^.]*$/, "") === home);
  if (!records.some(([id]) => id === wish.data)) wish.data = own?.id ?? state.data ?? records[0]?.[0] ?? null;
  const data = select(records, wish.data, { onchange: () => { wish.data = data.value; showOverlay(); } });
  const part = select([["test", "test part"], ["all", "whole record"]], wish.part, { onchange: () => { wish.part = part.value; showOverlay(); } });
  const output = outputs && outputs.length > 1 ? select(outputs.map((name, index) => [index, name]), wish.output, { onchange: () => { wish.output = Number(output.value); showOverlay(); } }) : null;
  fill(controls, field("Recording", data), field("Part", part), output ? field("Output", output) : null);
}

let drawn = "";
const showOverlay = attempt(async () => {
  showControls();
  const fits = [...shown].filter((name) => state.fits.some((fit) => fit.name === name));
  if (!fits.length || !wish.data) {
    fill(chart, make("p", { class: "note" }, "Tick fits in the table to see their simulations with bands here."));
    fill(scores);
    return;
  }
  // What is shown already keeps its zoom.
  const key = JSON.stringify([wish, fits, state.records.find(({ id }) => id === wish.data)]);
  if (key === drawn && chart.querySelector(".plots")) return;
  drawn = key;
  const ask = (from, to, pixels) => post("/api/overlay", { data: wish.data, part: wish.part, fits, output: wish.output, from, to, pixels });
  let first;
  try {
    first = await ask(null, null, 800);
  } catch (error) {
    fill(chart);
    fill(scores);
    throw error;
  }
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
    label: `Models on ${wish.data}`, extent: first.extent, step: first.sample_time || 1, height: 320,
    plots: [{ title: first.output, series, bands, legend: true }],
    load: async (from, to, pixels) => {
      const found = await ask(from, to, pixels);
      return { x: found.x, data: columns(found) };
    },
  });
  await plots.all();
  const cell = (text) => make("td", { class: "number" }, text);
  fill(scores, make("div", { class: "scroll" }, make("table", {}, make("thead", {}, make("tr", {}, ["model", "fit %", "coverage", "asked", "width"].map((text, index) => make("th", { scope: "col", class: index ? "number" : "" }, text)))),
    make("tbody", {}, first.models.map((model) => make("tr", {}, make("th", { scope: "row" }, model.name, model.diverged ? make("small", { class: "bad" }, "diverged") : null), cell(model.metrics.fit_percent === null ? "–" : model.metrics.fit_percent.toFixed(1)), cell(percent(model.metrics.picp)), cell(percent(model.coverage)), cell(percent(model.metrics.pinaw))))))));
});

function refresh() {
  // The newest fits are what somebody wants to see.
  const fresh = known ? state.fits.filter((fit) => !known.has(fit.name)) : state.fits.slice(-2);
  fresh.filter((fit) => !fit.problem && shown.size < 6).forEach((fit) => shown.add(fit.name));
  known = new Set(state.fits.map((fit) => fit.name));
  showTable();
  if (!panel.hidden) showOverlay();
}

build();
on("fits", refresh);
on("records", () => showControls());
on("data", () => { wish.data = state.data; });
on("open-compare", () => { showOverlay(); tell("fits-shown"); });
