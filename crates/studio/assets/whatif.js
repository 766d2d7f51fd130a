// What would the plant do: draw inputs, see outputs.
import { at, get, on, post, state } from "./api.js";
import { attempt, choice as select, field, fill, make, number, seconds, withUnit } from "./dom.js";

const panel = document.getElementById("whatif");
const controls = make("form", { "aria-label": "What to simulate" });
const room = make("div", { id: "drawing" });
const answerRoom = make("div", { id: "answer" });
const words = make("p", { class: "note", id: "answered", "aria-live": "polite" });
// What is drawn is of this model, whatever is chosen elsewhere or has just been fitted.
let model = null;
// The fit that was chosen here last: answers about others come too late.
let wanted = null;
let inputs = [];
let samples = 400;
let initial = null;
let plots = [];
let outputs = [];
let timer;

function build() {
  controls.addEventListener("submit", (event) => event.preventDefault());
  fill(panel, make("h2", {}, "What if"), make("p", {}, "Click into an input to set a step there, drag a point to move it; its value holds until the next point. The table below does the same with the keyboard."),
    controls, room, make("h3", {}, "Simulated output with its band"), answerRoom, words);
}

function showControls() {
  const fits = state.fits.filter((fit) => !fit.problem);
  if (!fits.length) {
    fill(controls, make("p", { class: "note wide" }, "Fit a model first."));
    return;
  }
  const fit = select(fits.map(({ name }) => [name, name]), model?.name ?? state.fit, { id: "whatif-fit", onchange: attempt(() => { state.fit = fit.value; return open(); }) });
  const length = make("input", { type: "number", min: "10", max: "20000", value: samples, onchange: attempt(() => { samples = Math.min(Math.max(Number(length.value) || 400, 10), 20000); return anew(); }) });
  const start = initial ? initial.map((value, index) => field(`${model.outputs[index].name} before it`, make("input", { type: "number", step: "any", value: Number(value.toPrecision(6)), onchange: (event) => { initial[index] = Number(event.target.value); ask(); } }))) : [];
  const from = select([["", "drawn by hand"], ...state.records.map(({ id }) => [id, `from ${id}`])], "", { onchange: attempt(() => from.value ? load(from.value) : anew()) });
  fill(controls, field("Fit", fit), field("Samples", length, model && model.sample_time ? `one every ${number(model.sample_time)} s` : ""), field("Inputs", from), start);
}

async function open() {
  const name = state.fit;
  if (!name) return;
  wanted = name;
  try {
    const found = await get(at("api", "fits", name));
    if (name !== wanted) return;
    model = found;
  } catch (error) {
    // What is shown is still the one before.
    showControls();
    throw error;
  }
  initial = model.outputs.map(({ mean }) => mean);
  await anew();
}

async function anew() {
  if (!model) return;
  reset();
  await draw();
}

function reset() {
  inputs = model.inputs.map((channel) => ({
    channel,
    base: null,
    points: [[0, channel.mean], [Math.round(samples / 10), channel.mean + channel.std]].map(([at, value]) => [at, Number(value.toPrecision(4))]),
  }));
}

async function load(id) {
  if (!model) return;
  const asked = model;
  const query = new URLSearchParams({ data: id, samples });
  let found;
  try {
    found = await get(`${at("api", "fits", asked.name, "inputs")}?${query}`);
  } catch (error) {
    // They are still those that were drawn.
    showControls();
    throw error;
  }
  if (asked !== model) return;
  samples = found.inputs[0].length;
  initial = found.initial;
  inputs.forEach((input, index) => Object.assign(input, { base: found.inputs[index], points: [] }));
  showControls();
  await draw();
}

function values({ base, points, channel }) {
  const column = base ? base.slice(0, samples) : new Array(samples).fill(channel.mean);
  points.forEach(([at, value], index) => {
    const end = index + 1 < points.length ? points[index + 1][0] : samples;
    for (let sample = Math.max(at, 0); sample < Math.min(end, samples); sample++) column[sample] = value;
  });
  return column;
}

const clock = () => model.sample_time || 1;
const positions = () => Array.from({ length: samples }, (_, sample) => sample * clock());

function axes() {
  return [charts.axis(model.sample_time ? "time [s]" : "sample"), charts.verticalAxis(null, { size: 62 })];
}

// Points are drawn over the line, and moved by mouse or finger.
function drawable(input, place, table) {
  const dots = (u) => {
    const { ctx } = u;
    ctx.save();
    ctx.fillStyle = theme.colour("outside");
    for (const [at, value] of input.points) {
      ctx.beginPath();
      ctx.arc(u.valToPos(at * clock(), "x", true), u.valToPos(value, "y", true), 5 * devicePixelRatio, 0, 2 * Math.PI);
      ctx.fill();
    }
    ctx.restore();
  };
  const reach = () => {
    const all = values(input);
    const [low, high] = [Math.min(...all), Math.max(...all)];
    const margin = Math.max(high - low, input.channel.std * 2, 1e-9) * 0.5;
    return [low - margin, high + margin];
  };
  let range = reach();
  const u = new uPlot({
    width: Math.max(240, place.clientWidth), height: 190, legend: { show: false }, scales: { x: { time: false }, y: { range: () => range } },
    cursor: { drag: { x: false, y: false } }, axes: axes(), hooks: { draw: [dots] },
    series: [{}, { stroke: theme.series(4), width: 1.6, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false } }],
  }, [positions(), values(input)], place);
  const where = (event) => {
    const box = u.over.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const sample = Math.round(u.posToVal(x, "x") / clock());
    return { x, y, sample: Math.min(Math.max(sample, 0), samples - 1), value: Number(u.posToVal(y, "y").toPrecision(4)) };
  };
  let held = null;
  u.over.addEventListener("pointerdown", (event) => {
    const { x, y, sample, value } = where(event);
    const near = input.points.findIndex(([at, height]) => Math.hypot(u.valToPos(at * clock(), "x") - x, u.valToPos(height, "y") - y) < 14);
    if (near >= 0) held = input.points[near];
    else {
      held = [sample, value];
      input.points = input.points.filter(([at]) => at !== sample).concat([held]).sort((a, b) => a[0] - b[0]);
    }
    u.over.setPointerCapture(event.pointerId);
    change(false);
  });
  u.over.addEventListener("pointermove", (event) => {
    if (!held) return;
    const { sample, value } = where(event);
    const others = input.points.filter((point) => point !== held);
    if (!others.some(([at]) => at === sample)) held[0] = sample;
    held[1] = value;
    input.points = others.concat([held]).sort((a, b) => a[0] - b[0]);
    change(false);
  });
  u.over.addEventListener("pointerup", () => { held = null; range = reach(); change(true); });
  const showPoints = () => {
    const isOpen = Boolean(table.querySelector("details")?.open);
    fill(table, pointTable(input, () => { range = reach(); change(true); }));
    table.querySelector("details").open = isOpen;
  };
  const change = (whole) => {
    u.setData([positions(), values(input)]);
    if (whole) showPoints();
    ask();
  };
  showPoints();
  return u;
}

function pointTable(input, changed) {
  const cell = (point, index, label) => make("td", {}, make("input", { type: "number", step: "any", value: point[index], "aria-label": label, onchange: (event) => {
    const value = Number(event.target.value);
    point[index] = index === 0 ? Math.min(Math.max(Math.round(value), 0), samples - 1) : value;
    input.points.sort((a, b) => a[0] - b[0]);
    changed();
  } }));
  return make("details", {}, make("summary", {}, `Points of ${input.channel.name}`), make("table", {}, make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "from sample"), make("th", { scope: "col" }, withUnit(input.channel)), make("th", { scope: "col" }, ""))),
    make("tbody", {}, input.points.map((point) => make("tr", {}, cell(point, 0, "from sample"), cell(point, 1, `value of ${input.channel.name}`), make("td", {}, make("button", { type: "button", onclick: () => { input.points = input.points.filter((other) => other !== point); changed(); } }, "Remove")))))),
  make("button", { type: "button", onclick: () => {
    const last = input.points[input.points.length - 1] || [0, input.channel.mean];
    input.points.push([Math.min(last[0] + Math.round(samples / 10), samples - 1), last[1]]);
    changed();
  } }, "Add a point"));
}

async function draw() {
  plots.forEach((plot) => plot.destroy());
  outputs.forEach((plot) => plot.destroy());
  [plots, outputs] = [[], []];
  fill(room);
  fill(answerRoom);
  if (!model || panel.hidden) return;
  showControls();
  plots = inputs.map((input) => {
    const place = make("div", { class: "draw" });
    const table = make("div");
    room.append(make("h3", {}, `input ${withUnit(input.channel)}`), place, table);
    return drawable(input, place, table);
  });
  outputs = model.outputs.map((channel) => {
    const place = make("div");
    answerRoom.append(place);
    const edge = { stroke: theme.colour("prediction"), width: 0.6, points: { show: false } };
    return new uPlot({
      title: withUnit(channel), width: Math.max(240, place.clientWidth), height: 260, legend: { show: false }, scales: { x: { time: false } }, cursor: { drag: { x: true, y: false } }, axes: axes(),
      series: [{}, edge, edge, { stroke: theme.colour("prediction"), width: 1.8, points: { show: false } }], bands: [{ series: [1, 2], fill: theme.colour("band") }],
    }, [[], [], [], []], place);
  });
  ask();
}

// Answers come as they can; one wish at a time, the latest next.
let asking = false;
let waiting = false;
function ask() {
  clearTimeout(timer);
  timer = setTimeout(send, 10);
}
const send = attempt(async () => {
  if (asking) {
    waiting = true;
    return;
  }
  if (!model) return;
  asking = true;
  const asked = model;
  const begun = performance.now();
  try {
    const found = await post(at("api", "fits", asked.name, "whatif"), { inputs: inputs.map(values), initial });
    if (asked !== model) return;
    const x = found.outputs[0].centre.map((_, index) => (found.first + index) * clock());
    outputs.forEach((plot, index) => {
      const { lower, centre, upper } = found.outputs[index];
      plot.setData([x, upper, lower, centre]);
    });
    const far = found.extrapolated ? found.extrapolated.filter(Boolean).length : 0;
    const took = performance.now() - begun;
    words.textContent = `${samples} samples in ${seconds(took / 1000)}.` + (far ? ` In ${far} of them the model has seen nothing like it: do not trust the band there.` : "") + (found.diverged_at !== null ? ` The simulation left every reasonable range at sample ${found.diverged_at}.` : "") + found.warnings.map((warning) => ` ${warning}.`).join("");
    words.className = far || found.diverged_at !== null || found.warnings.length ? "caution" : "note";
    answerRoom.dataset.samples = String(x.length);
    answerRoom.dataset.milliseconds = String(took);
  } catch (error) {
    if (asked !== model) return;
    // An older answer is none to these inputs.
    outputs.forEach((plot) => plot.setData([[], [], [], []]));
    words.textContent = "";
    delete answerRoom.dataset.samples;
    throw error;
  } finally {
    asking = false;
    if (waiting) {
      waiting = false;
      ask();
    }
  }
});

build();
on("fits", attempt(async () => {
  if (!model || state.fits.some((fit) => fit.name === model.name && !fit.problem)) {
    showControls();
    return;
  }
  // The one that was shown is gone.
  [model, wanted, initial] = [null, null, null];
  words.textContent = "";
  await draw();
  showControls();
  if (!panel.hidden) await open();
}));
on("open-whatif", attempt(() => model && model.name === state.fit ? draw() : open()));
theme.onChange(() => draw());
let pending;
let width = window.innerWidth;
window.addEventListener("resize", () => {
  // Phones change their height while scrolling; only the width matters.
  if (window.innerWidth === width) return;
  width = window.innerWidth;
  clearTimeout(pending);
  pending = setTimeout(draw, 150);
});
