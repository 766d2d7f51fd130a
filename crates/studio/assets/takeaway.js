// Files to take away, and words that repeat what was clicked.
import { at, get, on, state } from "./api.js";
import { attempt, choice as select, field, fill, make, say } from "./dom.js";

const panel = document.getElementById("takeaway");
const chooser = make("form", { "aria-label": "Which fit" });
const room = make("div", {});

const FILES = [
  ["report.html", "Report", "one page with everything, to open anywhere"],
  ["c", "C code", "a step for a controller: header and source, in an archive"],
  ["onnx", "ONNX", "the step, its start and whole records, in an archive"],
  ["fmu", "FMU", "for Simulink, OpenModelica and the like, FMI 2.0"],
  ["model.safetensors", "Model", "what the command line and Python read"],
  ["predictions.csv", "Predictions", "of the test part"],
  ["config.toml", "Settings", "for `intervalid fit --config`"],
  ["metrics.json", "Numbers", "what `intervalid fit --json` prints"],
];

async function copy(text) {
  await navigator.clipboard.writeText(text);
  say("Copied.");
}

let shown = null;
const show = attempt(async () => {
  const name = state.fit;
  shown = name;
  const fits = state.fits.filter((fit) => !fit.problem);
  if (!fits.length || !name) {
    fill(chooser);
    fill(room, make("p", { class: "note" }, "Fit a model first."));
    return;
  }
  const fit = select(fits.map((fit) => [fit.name, fit.name]), name, { id: "takeaway-fit", onchange: () => { state.fit = fit.value; show(); } });
  fill(chooser, field("Fit", fit));
  const { command_line, python } = await get(at("api", "fits", name, "words"));
  // Somebody has chosen another one meanwhile.
  if (name !== shown) return;
  const code = (title, text, id) => [make("h3", {}, title), make("pre", { id, tabindex: "0" }, make("code", {}, text)), make("button", { type: "button", onclick: attempt(() => copy(text)) }, "Copy")];
  fill(room, make("h3", {}, "Files"), make("ul", {}, FILES.map(([what, label, note]) => make("li", {}, make("a", { href: at("fits", name, "download", what), download: "", "data-what": what }, label), `: ${note}`))),
    code("The same in a terminal", command_line.join("\n"), "shell"), code("The same in Python", python, "python"));
});

chooser.addEventListener("submit", (event) => event.preventDefault());
fill(panel, make("h2", {}, "Take away"), chooser, room);
on("open-takeaway", show);
on("fits", () => { if (!panel.hidden) show(); });
