// What is done to a recording before a fit: gaps, spikes, thinning out, drift. Stored with the fit and done to every later recording.
import { at, choicesKept, keepChoice, post, refreshRecords } from "./api.js";
import { attempt, field, make, say } from "./dom.js";

// Channels that a limit or a line can be for; of a file that could not be read, those that were asked for.
function channelNames(view) {
  const { inputs, outputs } = view.choice.options;
  return view.summary ? view.summary.channels.map(({ name }) => name) : [...inputs ?? [], ...outputs ?? []];
}

function limitOf(view, name) {
  const clip = view.choice.options.prepare?.clip_spikes ?? {};
  const isOutput = view.summary?.channels.some((channel) => channel.name === name && channel.role === "output");
  return (clip.named ?? []).find(([other]) => other === name)?.[1] ?? (isOutput ? clip.outputs : undefined) ?? "";
}

// The choice with what the form says.
function chosen(view, form) {
  const whole = (name) => form.elements[name].value === "" ? undefined : Number(form.elements[name].value);
  const limits = [...form.querySelectorAll("[data-clip]")].filter((input) => input.value !== "").map((input) => [input.dataset.clip, Number(input.value)]);
  const prepare = { fill_gaps: whole("fill_gaps"), decimate: whole("decimate"), clip_spikes: limits.length ? { named: limits } : undefined };
  const detrend = [...form.querySelectorAll("[data-drift]:checked")].map((box) => box.dataset.drift);
  return { ...view.choice, options: { ...view.choice.options, prepare }, detrend };
}

function channelTable(view) {
  const names = channelNames(view);
  if (!names.length) return null;
  const row = (name) => make("tr", {}, make("th", { scope: "row" }, name),
    make("td", {}, make("input", { type: "number", min: "3", max: "1000000", step: "any", "data-clip": name, value: limitOf(view, name), placeholder: "no", "aria-label": `Clip spikes of ${name} from so many standard deviations on` })),
    make("td", {}, make("input", { type: "checkbox", "data-drift": name, checked: (view.choice.detrend ?? []).includes(name), "aria-label": `Take the drift out of ${name}` })));
  return make("div", { class: "wide scroll" }, make("table", { class: "form" }, make("thead", {}, make("tr", {}, ["channel", "clip spikes from … standard deviations on", "take the drift out"].map((text) => make("th", { scope: "col" }, text)))), make("tbody", {}, names.map(row))),
    make("p", { class: "note" }, "A spike is far from the median of its neighbours and becomes it; 6 is a start. A drift is a straight line through the training part; predictions get it back."));
}

// `taken(view)` is told what came of it.
export function preparer(view, taken) {
  const { prepare = {} } = view.choice.options;
  const number = (name, least) => make("input", { name, type: "number", min: least, max: "1000", step: "1", value: prepare[name] ?? "", placeholder: "no" });
  const form = make("form", { id: "preparer", "aria-label": "What is done to the recording before a fit" },
    field("Fill gaps of up to … missing samples", number("fill_gaps", "1"), "By straight lines; longer ones stay gaps."),
    field("Keep one sample in …", number("decimate", "2"), "After a low-pass filter without delay."),
    channelTable(view),
    make("div", { class: "wide row" }, make("button", { class: "primary", id: "prepare" }, "Prepare it so"),
      make("button", { type: "button", id: "as-recorded", onclick: attempt(() => send(() => ({ ...view.choice, options: { ...view.choice.options, prepare: {} }, detrend: [] }))) }, "As recorded")));
  async function send(wanted) {
    // A border that was moved just now is part of it.
    await choicesKept();
    const wish = wanted();
    const looked = await post(at("api", "data", view.id, "view"), wish);
    if (looked.problem) {
      // Nothing was kept: what this choice is in place of is still what was shown before.
      taken({ ...looked, revision: view.revision });
      return;
    }
    const kept = await keepChoice(view, wish);
    await refreshRecords();
    taken(kept);
    say(kept.summary.preparation.length ? `${kept.id} is prepared: fits take it so from now on.` : `${kept.id} is taken as it was recorded.`);
  }
  form.addEventListener("submit", attempt(async (event) => {
    event.preventDefault();
    await send(() => chosen(view, form));
  }));
  return form;
}
