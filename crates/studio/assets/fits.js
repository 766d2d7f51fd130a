// The table of fits: numbers, pins, names, notes, the bin.
import { at, on, post, refreshFits, state, tell } from "./api.js";
import { attempt, field, fill, make, number, percent, say, seconds } from "./dom.js";

const table = make("div", { id: "fits" });
const dialog = make("dialog", { "aria-labelledby": "remark-title" });

const COLUMNS = [["fit %", "Share of the movement that the simulation explains; 100 is perfect"], ["coverage", "Share of the test samples inside the band, and what was asked"], ["width", "Mean width of the band over the range of the output"],
  ["score", "Interval score in the output's unit: width, plus a price for every miss; lower is better"], ["RMSE", "In the output's unit"], ["parameters", ""], ["time", "To fit"]];

// Name and note in one form; Escape leaves everything as it was.
function edit(fit) {
  const name = make("input", { name: "name", value: fit.name, maxlength: "80", required: true });
  const note = make("textarea", { name: "note", rows: "5", maxlength: "4000" }, fit.note);
  const form = make("form", { method: "dialog" }, make("h2", { id: "remark-title", class: "wide" }, "Name and note"), make("div", { class: "wide" }, field("Name", name, "Its folder gets this name, too.")),
    make("div", { class: "wide" }, field("Note", note)),
    make("div", { class: "wide row" }, make("button", { class: "primary", id: "save-remark" }, "Save"), make("button", { type: "button", onclick: () => dialog.close() }, "Cancel")));
  form.addEventListener("submit", attempt(async (event) => {
    event.preventDefault();
    dialog.close();
    const to = name.value.trim();
    if (note.value !== fit.note) await post(at("api", "fits", fit.name, "remark"), { pinned: fit.pinned, note: note.value });
    if (to && to !== fit.name) {
      await post(at("api", "fits", fit.name, "rename"), { to });
      if (state.shown.delete(fit.name)) state.shown.add(to);
      if (state.fit === fit.name) state.fit = to;
    }
    await refreshFits();
  }));
  fill(dialog, form);
  dialog.showModal();
}

async function discard(fit) {
  const { bin } = await post(at("api", "fits", fit.name, "discard"));
  state.shown.delete(fit.name);
  await refreshFits();
  say(`'${fit.name}' is in the bin.`, "", { label: "Bring it back", act: attempt(() => restore(bin)) });
}

async function restore(name) {
  await post(at("api", "bin", name, "restore"));
  await refreshFits();
}

async function erase(name) {
  if (!window.confirm(`Erase '${name}' for good? Its folder is deleted.`)) return;
  await post(at("api", "bin", name, "erase"));
  await refreshFits();
}

function row(fit, judged) {
  const check = make("input", { type: "checkbox", "aria-label": `Show ${fit.name}`, checked: state.shown.has(fit.name), onchange: () => { check.checked ? state.shown.add(fit.name) : state.shown.delete(fit.name); tell("shown"); } });
  const pin = attempt(async () => {
    await post(at("api", "fits", fit.name, "remark"), { pinned: !fit.pinned, note: fit.note });
    await refreshFits();
  });
  const cell = (text) => make("td", { class: "number" }, text);
  const numbers = fit.problem ? [make("td", { colspan: "7", class: "bad" }, fit.problem)]
    : [cell(fit.fit_percent === null ? "–" : fit.fit_percent.toFixed(1)), cell(`${percent(fit.picp)} of ${percent(fit.coverage)}`), cell(percent(fit.pinaw)), cell(number(fit.interval_score)), cell(number(fit.rmse)), cell(String(fit.parameters)), cell(seconds(fit.seconds))];
  const button = (text, label, act, more = {}) => make("button", { type: "button", onclick: act, "aria-label": `${label} ${fit.name}`, title: label, ...more }, text);
  return make("tr", { "data-fit": fit.name, class: fit.pinned ? "pinned" : "" }, make("td", {}, make("div", { class: "row" }, check, button(fit.pinned ? "★" : "☆", fit.pinned ? "Unpin" : "Pin", pin, { class: "pin", "aria-pressed": String(fit.pinned) }))),
    make("th", { scope: "row" }, fit.name, fit.note ? make("p", { class: "remark" }, fit.note) : null, fit.judged_on && judged.get(fit.dataset) !== fit.judged_on ? make("small", {}, "judged on other samples") : null),
    make("td", {}, fit.model, make("small", {}, fit.dataset)), numbers,
    make("td", {}, make("div", { class: "row" }, fit.has_report ? make("a", { href: at("fits", fit.name, "report"), target: "_blank", rel: "noopener" }, "Report") : null,
      button("Edit", "Name and note of", () => edit(fit)), button("Delete", "Delete", attempt(() => discard(fit))))));
}

function bin() {
  const entry = (name) => make("li", { class: "row" }, make("span", {}, name), make("button", { type: "button", "aria-label": `Bring ${name} back`, onclick: attempt(() => restore(name)) }, "Bring it back"),
    make("button", { type: "button", "aria-label": `Erase ${name}`, onclick: attempt(() => erase(name)) }, "Erase"));
  return make("details", { id: "bin" }, make("summary", {}, `Bin (${state.bin.length})`), make("ul", { class: "list" }, state.bin.map(entry)));
}

function show() {
  const isOpen = Boolean(table.querySelector("#bin")?.open);
  if (!state.fits.length) {
    fill(table, make("p", { class: "note" }, "There are no fits yet. Those that `intervalid fit --out` writes into this folder appear here, too."));
  } else {
    const judged = new Map();
    state.fits.forEach((fit) => { if (!judged.has(fit.dataset)) judged.set(fit.dataset, fit.judged_on); });
    fill(table, make("div", { class: "scroll" }, make("table", {}, make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "show, pin"), make("th", { scope: "col" }, "fit"), make("th", { scope: "col" }, "model, data"),
      COLUMNS.map(([text, title]) => make("th", { scope: "col", class: "number" }, title ? make("abbr", { title }, text) : text)), make("th", { scope: "col", "aria-label": "actions" }))),
    make("tbody", {}, state.fits.map((fit) => row(fit, judged))))),
    make("p", { class: "note" }, "Numbers are of the test part, which no fit has seen. Whoever chooses by them has used it up: keep another recording to be sure."));
  }
  if (state.bin.length) {
    table.append(bin());
    table.querySelector("#bin").open = isOpen;
  }
}

let known = null;
on("fits", () => {
  // The newest fits are what somebody wants to see.
  const fresh = known ? state.fits.filter((fit) => !known.has(fit.name)) : state.fits.slice(-2);
  fresh.filter((fit) => !fit.problem && state.shown.size < 6).forEach((fit) => state.shown.add(fit.name));
  known = new Set(state.fits.map((fit) => fit.name));
  show();
  tell("shown");
});

export const fitTable = make("div", {}, table, dialog);
