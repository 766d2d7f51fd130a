// Candidates of a search as they are judged: the best error so far over time, and a table that grows.
import { fill, fitWidth, make, number, seconds } from "./dom.js";

const SHOWN = 8;

export function candidateTable() {
  const words = make("p", { class: "note", "aria-live": "polite" });
  const picture = make("div");
  const rows = make("tbody", {});
  const more = make("button", { type: "button", hidden: true, onclick: () => { isLong = !isLong; show(); } });
  const head = ["candidate", "kind", "size", "held-out error", "judged after"];
  const table = make("div", { class: "scroll" }, make("table", { class: "candidates" }, make("caption", {}, "Candidates so far, the best first"),
    make("thead", {}, make("tr", {}, head.map((text, index) => make("th", { scope: "col", class: index > 1 ? "number" : "" }, text)))), rows));
  const box = make("div", { class: "tried", hidden: true }, words, picture, table, more);
  let [live, drawn, isLong, curve] = [null, "", false, null];

  function row(candidate, index) {
    return make("tr", { class: index === 0 && candidate.whole ? "best" : "" }, make("th", { scope: "row" }, candidate.name, index === 0 && candidate.whole ? make("small", {}, "best so far") : null),
      make("td", {}, candidate.model.toUpperCase()), make("td", { class: "number" }, String(candidate.parameters)),
      make("td", { class: "number" }, number(candidate.error), candidate.whole ? null : make("small", {}, "on part of the data")), make("td", { class: "number" }, seconds(candidate.seconds)));
  }

  function show() {
    const { candidates, judged } = live;
    fill(rows, candidates.slice(0, isLong ? candidates.length : SHOWN).map(row));
    more.hidden = candidates.length <= SHOWN;
    more.textContent = isLong ? "Show the best only" : `Show all ${candidates.length}`;
    const best = candidates[0];
    words.textContent = `${judged} ${judged === 1 ? "candidate" : "candidates"} judged.` + (best.whole ? ` The best so far misses held-out samples by ${number(best.error)} standard deviations of the output.` : "");
  }

  function draw() {
    const { bests } = live;
    if (bests.length < 2 || !picture.clientWidth) return;
    // The last one holds until now.
    const data = [bests.map(([at]) => at).concat(live.seconds), bests.map(([, error]) => error).concat(bests[bests.length - 1][1])];
    if (curve) {
      fitWidth(curve, picture);
      curve.setData(data);
      return;
    }
    curve = new uPlot({
      width: picture.clientWidth, height: 150, scales: { x: { time: false } }, cursor: { show: false }, legend: { show: false },
      axes: [charts.axis("seconds"), charts.verticalAxis("best error so far")],
      series: [{}, { stroke: theme.colour("prediction"), width: 1.6, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false } }],
    }, data, picture);
  }

  return {
    box,
    update: (now) => {
      if (!now.candidates.length) return;
      live = now;
      box.hidden = false;
      const key = JSON.stringify([now.judged, now.candidates]);
      if (key !== drawn) {
        drawn = key;
        show();
      }
      draw();
    },
    drop: () => { if (curve) curve.destroy(); },
  };
}
