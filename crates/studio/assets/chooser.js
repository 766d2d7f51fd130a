// How a recording is read: the part of each column, units, further files, and the details of text files.
import { at, choicesKept, keepChoice, post, refreshRecords, state } from "./api.js";
import { attempt, choice as select, field, make, say } from "./dom.js";

const ROLES = [["input", "input"], ["output", "output"], ["time", "time"], ["experiment", "experiment"], ["none", "not used"]];
const PLACES = [["", "not used"], ["more", "a further experiment"], ["test", "for the test alone"]];

// Names in results lack the unit that a column may have in brackets.
const bare = (column) => column.replace(/ \[[^\]]*\]$/, "");

function roleOf(view, column) {
  const { inputs, outputs, time, experiment } = view.choice.options;
  const is = (name) => name === column || name === bare(column);
  const channel = view.summary?.channels.find(({ name }) => is(name));
  if (channel) return channel.role;
  // A file that could not be read: as it was asked for, by the names that are taken by default where nothing was.
  if (outputs ? outputs.some(is) : /^y\d*( \[|$)/.test(column)) return "output";
  if (inputs ? inputs.some(is) : /^u\d*( \[|$)/.test(column)) return "input";
  if (experiment === column) return "experiment";
  if (time === column || (time === null && column === view.time_column)) return "time";
  return "none";
}

// The choice that the form shows.
function chosen(view, form) {
  const text = (name) => form.elements[name].value.trim();
  const roles = view.columns.map((column, index) => [column, text(`role-${index}`)]);
  const named = (role) => roles.filter(([, other]) => other === role).map(([column]) => column);
  const options = { ...view.choice.options, inputs: named("input"), outputs: named("output"), missing: text("missing") };
  options.sample_time = text("sample_time") === "" ? null : Number(text("sample_time"));
  // No column of times, though one looks like it, is a choice; otherwise the reader decides.
  options.time = named("time")[0] ?? (view.time_column ? "" : null);
  options.experiment = named("experiment")[0] ?? null;
  options.delimiter = form.elements.delimiter.value || null;
  options.decimal = text("decimal");
  options.skip_rows = Number(text("skip_rows") || 0);
  const units = roles.map(([column, role], index) => [bare(column), role, text(`unit-${index}`)]);
  options.units = units.filter(([, role, unit]) => unit && ["input", "output"].includes(role)).map(([name, , unit]) => [name, unit]);
  const files = [...form.querySelectorAll("[data-file]")];
  const placed = (place) => files.filter((file) => file.value === place).map((file) => file.dataset.file);
  return { ...view.choice, options, more: placed("more"), test: placed("test") };
}

function columnTable(view) {
  const given = new Map(view.choice.options.units);
  const unitOf = (column) => view.summary?.channels.find(({ name }) => name === bare(column))?.unit ?? "";
  const row = (column, index) => make("tr", {}, make("th", { scope: "row" }, column),
    make("td", {}, select(ROLES, roleOf(view, column), { name: `role-${index}`, "data-column": column, "aria-label": `What ${column} is` })),
    make("td", {}, make("input", { name: `unit-${index}`, "data-unit": column, value: given.get(bare(column)) ?? "", placeholder: unitOf(column), maxlength: "40", size: "8", "aria-label": `Unit of ${column}` })));
  return make("div", { class: "wide scroll" }, make("table", { class: "form" }, make("thead", {}, make("tr", {}, ["column", "is", "unit"].map((text) => make("th", { scope: "col" }, text)))), make("tbody", {}, view.columns.map(row))));
}

// Other files of the same plant become experiments of this record; they need the same columns.
function fileTable(view) {
  const files = state.records.filter(({ id, description }) => !description && id !== view.id).map(({ id }) => id);
  const gone = [...view.choice.more ?? [], ...view.choice.test ?? []].filter((id) => !files.includes(id));
  const place = (id) => (view.choice.more ?? []).includes(id) ? "more" : (view.choice.test ?? []).includes(id) ? "test" : "";
  if (!files.length && !gone.length) return null;
  const row = (id) => make("tr", {}, make("th", { scope: "row" }, id), make("td", {}, select(PLACES, place(id), { "data-file": id, "aria-label": `How ${id} is used` })));
  return make("fieldset", { class: "wide" }, make("legend", {}, "Further files of the same plant"), make("p", { class: "note" }, "Each is an experiment of this record, with the same columns; no model looks across the border of two."),
    make("div", { class: "scroll" }, make("table", { class: "form" }, make("tbody", {}, files.concat(gone).map(row)))));
}

// `taken(view)` is told what came of it.
export function chooser(view, taken) {
  const { options } = view.choice;
  const form = make("form", { id: "chooser", "aria-label": "How the recording is read" }, columnTable(view),
    field("Seconds between samples", make("input", { name: "sample_time", type: "number", step: "any", min: "0", value: options.sample_time ?? "" }), "Empty: from the time column, or not known."),
    field("Where a sample is missing", select([["error", "refuse the file"], ["split", "start a new experiment"]], options.missing, { name: "missing" })),
    field("Cells are separated by", select([["", "as usual"], [",", "comma"], [";", "semicolon"], ["\t", "tab"], [" ", "blank"]], options.delimiter ?? "", { name: "delimiter" })),
    field("Decimal character", select([[".", "point"], [",", "comma"]], options.decimal, { name: "decimal" })),
    field("Rows before the names", make("input", { name: "skip_rows", type: "number", min: "0", value: options.skip_rows })),
    fileTable(view),
    make("div", { class: "wide row" }, make("button", { class: "primary", id: "use" }, "Use these columns")));
  form.addEventListener("submit", attempt(async (event) => {
    event.preventDefault();
    // A border that was moved just now is part of it.
    await choicesKept();
    const wish = chosen(view, form);
    const looked = await post(at("api", "data", view.id, "view"), wish);
    if (looked.problem) {
      // Nothing was kept: what this choice is in place of is still what was shown before.
      taken({ ...looked, revision: view.revision });
      return;
    }
    const kept = await keepChoice(view, wish);
    await refreshRecords();
    taken(kept);
    say(`${kept.id}: ${kept.summary.samples} samples, ready to fit.`);
  }));
  return form;
}
