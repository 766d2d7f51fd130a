// Plots over the same samples, one under the other. The server sends what the pixels can show, again for every zoom.
import { attempt, make, say } from "./dom.js";

const live = new Set();

// A key says values at the cursor; without one there are none.
const idle = {
  hooks: {
    ready: (u) => u.root.classList.add("idle"),
    setCursor: (u) => u.root.classList.toggle("idle", u.cursor.left < 0 || u.cursor.idx === null || u.cursor.idx === undefined),
  },
};

// `plots`: title, y label, series and plugins of each; `load(from, to, pixels)` gives { x, data }, data[plot][series]; `extent`: all samples;
// `step`: seconds per sample or 1; `marks()`: vertical lines, { sample, isBorder }, solid where one experiment ends.
export function linked(box, { plots, load, extent, step, label, height = 150, marks = () => [] }) {
  let [from, to] = extent;
  let drawn = [];
  const key = `plots-${Math.random()}`;
  const figure = make("div", { class: "plots", tabindex: "0", role: "group", "aria-label": `${label}. Arrow keys and page keys move, plus and minus zoom, 0 shows all.` });
  const bar = make("div", { class: "bar" });
  const room = make("div");
  figure.append(bar, room);
  box.replaceChildren(figure);

  const act = attempt((work) => work());
  const width = () => Math.max(240, room.clientWidth || box.clientWidth);
  const clampView = (low, high) => {
    const [first, last] = extent;
    const size = Math.min(Math.max(high - low, 4), last - first);
    const start = Math.min(Math.max(low, first), last - size);
    return [Math.floor(start), Math.ceil(start + size)];
  };

  const lines = (u) => {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.lineWidth = 1.5 * devicePixelRatio;
    for (const { sample, isBorder } of marks()) {
      ctx.strokeStyle = theme.colour(isBorder ? "muted" : "outside");
      ctx.setLineDash(isBorder ? [] : [6 * devicePixelRatio, 4 * devicePixelRatio]);
      const x = u.valToPos(sample * step, "x", true);
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  };

  function build() {
    drawn.forEach((plot) => plot.destroy());
    room.replaceChildren();
    drawn = plots.map((plot, index) => {
      const isLast = index === plots.length - 1;
      const options = {
        width: width(),
        height: (plot.height || height) + (isLast ? 40 : 0),
        scales: { x: { time: false } },
        legend: { show: Boolean(plot.legend) },
        plugins: [idle, ...plot.plugins || []],
        cursor: { drag: { x: true, y: false, setScale: false }, sync: { key, setSeries: false } },
        axes: [
          charts.axis(isLast ? (step === 1 ? "sample" : "time [s]") : null, isLast ? { size: 30 } : { size: 6, values: () => [] }),
          charts.verticalAxis(null, { size: 62 }),
        ],
        series: [{ label: step === 1 ? "sample" : "time", value: (_, raw) => raw === null || raw === undefined ? "" : charts.number(raw) }].concat(plot.series.map((series, number) => ({
          label: series.label,
          class: series.edge ? "edge" : undefined,
          stroke: series.colour ? series.colour() : theme.series(number),
          width: series.edge ? 0.6 : series.width || 1.3,
          dash: series.dash,
          paths: series.stepped ? uPlot.paths.stepped({ align: 1 }) : undefined,
          points: { show: false },
          value: (_, raw) => raw === null || raw === undefined ? "" : charts.number(raw),
        }))),
        bands: (plot.bands || []).map(({ series, colour }) => ({ series, fill: colour() })),
        hooks: {
          draw: [lines],
          setSelect: [(u) => {
            if (u.select.width < 4) return;
            const low = u.posToVal(u.select.left, "x") / step;
            const high = u.posToVal(u.select.left + u.select.width, "x") / step;
            u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
            act(() => show(low, high));
          }],
        },
      };
      room.append(make("h3", {}, plot.title));
      const place = make("div");
      room.append(place);
      const empty = [[]].concat(plot.series.map(() => []));
      const made = new uPlot(options, empty, place);
      made.over.addEventListener("dblclick", () => act(() => show(...extent)));
      pan(made);
      return made;
    });
  }

  const scale = () => ({ min: from * step, max: Math.max(to - 1, from + 1) * step });

  // One question at a time, the latest wish next: who pans faster than the server answers waits for one answer, not for all.
  // Half a view to either side comes along, so that there is something to pan to.
  let asking = null;
  let isStale = false;
  function fetchView() {
    if (asking) {
      isStale = true;
      return asking;
    }
    asking = (async () => {
      try {
        do {
          isStale = false;
          const [first, last] = extent;
          const half = Math.ceil((to - from) / 2);
          const [low, high] = [Math.max(first, from - half), Math.min(last, to + half)];
          const pixels = Math.round(width() * Math.min(devicePixelRatio, 2) * (high - low) / (to - from));
          const { x, data } = await load(low, high, pixels);
          if (!figure.isConnected) return;
          const positions = x.map((sample) => sample * step);
          drawn.forEach((plot, index) => plot.batch(() => {
            plot.setData([positions, ...data[index]], false);
            plot.setScale("x", scale());
          }));
          figure.dataset.drawn = `${from}-${to}`;
        } while (isStale);
      } finally {
        asking = null;
      }
    })();
    return asking;
  }

  async function show(low, high) {
    [from, to] = clampView(low, high);
    await fetchView();
  }

  // What is there moves at once; what is missing comes when the server has it.
  let framed = false;
  function glide(low, high) {
    [from, to] = clampView(low, high);
    if (framed) return;
    framed = true;
    requestAnimationFrame(() => {
      framed = false;
      drawn.forEach((plot) => plot.setScale("x", scale()));
      fetchView().catch((error) => say(error.message, "error"));
    });
  }

  // Shift and drag moves the stretch that is shown.
  function pan(u) {
    u.over.addEventListener("mousedown", (down) => {
      if (!down.shiftKey || down.button !== 0) return;
      down.stopImmediatePropagation();
      down.preventDefault();
      const [low, high] = [from, to];
      const unit = (high - low) / u.over.clientWidth;
      const move = (event) => glide(low + (down.clientX - event.clientX) * unit, high + (down.clientX - event.clientX) * unit);
      const up = () => {
        document.removeEventListener("mousemove", move);
        document.removeEventListener("mouseup", up);
      };
      document.addEventListener("mousemove", move);
      document.addEventListener("mouseup", up);
    }, true);
  }

  const zoom = (factor) => {
    const [middle, half] = [(from + to) / 2, (to - from) * factor / 2];
    return show(middle - half, middle + half);
  };
  const move = (share) => glide(from + share * (to - from), to + share * (to - from));
  const actions = [["−", "Zoom out", () => zoom(2)], ["+", "Zoom in", () => zoom(0.5)], ["←", "Earlier", () => move(-0.4)], ["→", "Later", () => move(0.4)], ["↺", "Whole record", () => show(...extent)]];
  bar.append(...actions.map(([text, title, work]) => make("button", { type: "button", title, "aria-label": title, onclick: () => act(work) }, text)));
  figure.addEventListener("keydown", (event) => {
    const work = { "-": () => zoom(2), "+": () => zoom(0.5), ArrowLeft: () => move(-0.1), ArrowRight: () => move(0.1), PageUp: () => move(-0.9), PageDown: () => move(0.9), 0: () => show(...extent) }[event.key];
    if (!work || event.target !== figure) return;
    event.preventDefault();
    act(work);
  });

  const view = {
    show: () => show(from, to),
    // A stretch with some of what is around it.
    go: (start, end) => act(() => show(start - Math.max(20, 2 * (end - start)), end + Math.max(20, 2 * (end - start)))),
    all: () => show(...extent),
    redraw: () => { if (figure.isConnected && figure.checkVisibility()) { build(); act(() => show(from, to)); } },
    marks: () => drawn.forEach((plot) => plot.redraw(false)),
    isConnected: () => figure.isConnected,
    fitsWidth: () => drawn.every((plot) => Math.abs(plot.width - width()) < 2),
  };
  build();
  live.add(view);
  return view;
}

// Plots are drawn again in other colours and for other widths.
export function redrawAll(onlyWidth) {
  for (const view of live) {
    if (!view.isConnected()) live.delete(view);
    else if (!onlyWidth || !view.fitsWidth()) view.redraw();
  }
}
theme.onChange(() => redrawAll(false));
let pending;
window.addEventListener("resize", () => {
  clearTimeout(pending);
  pending = setTimeout(() => redrawAll(true), 120);
});
