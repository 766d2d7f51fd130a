// Views of an analysis, as `intervalid analyse` has them: charts and tables that the server made, drawn by the report's scripts.
import { post } from "./api.js";
import { choice as select, field, fill, make } from "./dom.js";

export const VIEWS = [["errors", "Errors"], ["steps", "Steps"], ["frequency", "Frequency"], ["static", "Static"], ["linear", "Linear"], ["width", "Why so wide?"], ["elasticity", "Elasticity"], ["next", "Measure next"]];

const NONE = { elasticity: "only interval networks have margins whose elasticity could be shown.", steps: "steps start from a stable steady state, and there is none.", frequency: "a model without inputs answers nothing.", static: "a model without inputs has no static curve." };

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
  plots.forEach(({ plot }) => plot?.destroy());
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
  const problems = models.filter(({ problem }) => problem).map(({ name, problem }) => make("p", { class: "caution" }, `${name}: ${problem}`));
  const shared = find(together);
  const top = shared ? section(shared, `${seen.length} models: ${shared.heading}`) : null;
  const able = seen.filter(({ page }) => find(page));
  const unable = seen.filter(({ page }) => !find(page)).map(({ name }) => name);
  const none = unable.length ? make("p", { class: "note" }, `Nothing of ${unable.join(", ")}: ${NONE[view] || "there is nothing to show here."}`) : null;
  const chosen = able.find(({ name }) => name === wanted) ?? able[0];
  let own = null;
  const detail = [];
  if (chosen) {
    const { name, page } = chosen;
    const which = select(able.map((model) => [model.name, model.name]), name, { id: "one-model", onchange: () => { wanted = which.value; showAnalysis(room, view, question, subject, isCurrent); } });
    own = section(find(page), `${name}: ${find(page).heading}`);
    detail.push(able.length > 1 ? make("form", { "aria-label": "Which model" }, field("One model in detail", which)) : null, page.cautions.map((text) => make("p", { class: "caution" }, text)), own.element);
  }
  fill(room, problems, top?.element, detail, none);
  [...top?.figures ?? [], ...own?.figures ?? []].forEach(([figure, spec]) => draw(figure, spec));
  room.dataset.shown = view;
}

// In other colours, or for another width. What is hidden is drawn when it comes into view.
function redraw(isOld) {
  for (const [figure, { spec, width, plot }] of [...plots]) {
    if (!figure.isConnected || !isOld(figure, width, plot)) continue;
    if (plot) plot.destroy();
    plots.set(figure, { spec, width, plot: null });
    if (figure.checkVisibility()) draw(figure, spec);
  }
}
export const refreshAnalysis = () => redraw((figure, width, plot) => !plot || figure.clientWidth !== width);
theme.onChange(() => redraw(() => true));
let pending;
window.addEventListener("resize", () => {
  clearTimeout(pending);
  pending = setTimeout(refreshAnalysis, 150);
});
