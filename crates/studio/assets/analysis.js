// Views of an analysis, as `intervalid analyse` has them: charts and tables that the server made, drawn by the report's scripts.
import { post } from "./api.js";
import { choice as select, field, fill, make } from "./dom.js";

export const VIEWS = [["errors", "Errors"], ["steps", "Steps"], ["frequency", "Frequency"], ["static", "Static"], ["linear", "Linear"], ["width", "Why so wide?"], ["elasticity", "Elasticity"], ["next", "Measure next"]];

const kinds = { ...charts, ...drawn };
const plots = new Map();
let wanted = null;

function draw(figure, spec) {
  const box = make("div");
  figure.replaceChildren(figure.querySelector("figcaption"), box);
  plots.set(figure, { spec, width: figure.clientWidth, plot: kinds[spec.kind](figure, spec, box) });
  figure.dataset.drawn = spec.kind;
}

function drop() {
  plots.forEach(({ plot }) => plot.destroy());
  plots.clear();
}

function section({ heading, words, tables, charts: specs }, title) {
  const table = ({ headings, rows }) => make("div", { class: "scroll" }, make("table", {}, make("thead", {}, make("tr", {}, headings.map((text, index) => make("th", { scope: "col", class: index ? "number" : "" }, text)))),
    make("tbody", {}, rows.map((cells) => make("tr", {}, cells.map((text, index) => index ? make("td", { class: "number" }, text) : make("th", { scope: "row" }, text)))))));
  const figures = specs.map((spec) => [make("figure", { class: "chart", role: "group", "aria-label": spec.title }, make("figcaption", {}, spec.title)), spec]);
  const element = make("div", { class: "analysis" }, make("h3", {}, title || heading), words.filter(Boolean).map((text) => make("p", {}, text)), tables.map(table), make("div", { class: "grid" }, figures.map(([figure]) => figure)));
  return { element, figures };
}

// All views come at once and are kept while the question stays the same.
let asked = "";
let answer = null;
async function load(question, subject) {
  if (subject === asked) return answer;
  const found = await post("/api/analysis", question);
  [asked, answer] = [subject, found];
  return found;
}

// `subject`: changes with all that the answer depends on; `isCurrent`: whether the user still wants to see this.
export async function showAnalysis(room, view, question, subject, isCurrent) {
  if (subject !== asked) fill(room, make("p", { class: "note", role: "status" }, "Analysing …"));
  const { together, models } = await load(question, subject);
  if (!isCurrent()) return;
  drop();
  const find = (page) => page?.sections.find(({ id }) => id === view);
  const seen = models.filter(({ page }) => page);
  if (!seen.some(({ name }) => name === wanted)) wanted = seen[0]?.name ?? null;
  const problems = models.filter(({ problem }) => problem).map(({ name, problem }) => make("p", { class: "caution" }, `${name}: ${problem}`));
  const shared = find(together);
  const top = shared ? section(shared, `${shared.heading}: ${seen.length} models`) : null;
  const detail = make("div", { id: "one-model" });
  fill(room, problems, top?.element, detail);
  const showOne = () => {
    const { name, page } = seen.find((model) => model.name === wanted);
    const found = find(page);
    const chosen = select(seen.map((model) => [model.name, model.name]), wanted, { onchange: () => { wanted = chosen.value; showAnalysis(room, view, question, subject, isCurrent); } });
    const own = found ? section(found, `${found.heading}: ${name}`) : null;
    const missing = found ? null : make("p", { class: "note" }, NONE[view] || "This model has nothing to show here.");
    fill(detail, seen.length > 1 ? make("form", { "aria-label": "Which model" }, field("One model in detail", chosen)) : null, page.cautions.map((text) => make("p", { class: "caution" }, text)), missing, own?.element);
    (own?.figures ?? []).forEach(([figure, spec]) => draw(figure, spec));
  };
  (top?.figures ?? []).forEach(([figure, spec]) => draw(figure, spec));
  if (seen.length) showOne();
  room.dataset.shown = view;
}

const NONE = { elasticity: "Only interval networks have margins whose elasticity could be shown.", steps: "Steps start from a stable steady state, and this model has none.", frequency: "A model without inputs answers nothing.", static: "A model without inputs has no static curve." };

function redraw() {
  for (const [figure, { spec, plot }] of [...plots]) {
    plot.destroy();
    plots.delete(figure);
    if (figure.isConnected && figure.checkVisibility()) draw(figure, spec);
  }
}
theme.onChange(redraw);
let pending;
window.addEventListener("resize", () => {
  clearTimeout(pending);
  pending = setTimeout(() => { if ([...plots].some(([figure, { width }]) => figure.isConnected && figure.clientWidth !== width)) redraw(); }, 150);
});
