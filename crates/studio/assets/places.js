// Places of a record that deserve a look: marked on the tracks, and listed for those who do not see them.
import { make } from "./dom.js";

const KINDS = { after_gap: "gap", gap_filled: "filled", spike_clipped: "spike", saturated: "at its limit", constant: "stands still" };
const COLOURS = { after_gap: "muted", gap_filled: "prediction", spike_clipped: "outside", saturated: "outside", constant: "outside" };
// Marks nearer than this, in pixels, are one button: it is wide enough for a finger that knows where it goes.
const APART = 18;

// Marks of the places that are about one channel or about all: a shade over their samples, a button above it. `go(place)` shows one.
export function placeMarks(places, channel, step, go) {
  const own = places.map((place, index) => ({ ...place, index })).filter((place) => place.channel === null || place.channel === channel);
  const buttons = new Map();
  const left = (u, place) => u.valToPos(place.start * step, "x");
  const right = (u, place) => Math.max(u.valToPos((place.end - 1) * step, "x"), left(u, place) + 2);

  function shade(u) {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.globalAlpha = 0.22;
    const fills = new Map([...new Set(own.map(({ kind }) => kind))].map((kind) => [kind, theme.colour(COLOURS[kind] ?? "outside")]));
    for (const place of own) {
      const low = Math.max(bbox.left, bbox.left + left(u, place) * devicePixelRatio - devicePixelRatio);
      const high = Math.min(bbox.left + bbox.width, bbox.left + right(u, place) * devicePixelRatio);
      if (high <= low) continue;
      ctx.fillStyle = fills.get(place.kind);
      ctx.fillRect(low, bbox.top, high - low, bbox.height);
    }
    ctx.restore();
  }

  // Neighbours share a button, under the name of the first; one that stays keeps the focus.
  function label(u) {
    const groups = [];
    for (const place of own) {
      const [low, high] = [left(u, place), right(u, place)];
      if (high < 0 || low > u.over.clientWidth) continue;
      const middle = Math.min(Math.max((low + high) / 2, 0), u.over.clientWidth);
      const last = groups[groups.length - 1];
      if (last && middle - last.middle < APART) last.places.push(place);
      else groups.push({ middle, places: [place] });
    }
    const shown = new Set(groups.map(({ places: [first] }) => first.index));
    for (const [index, button] of buttons) {
      if (shown.has(index)) continue;
      button.remove();
      buttons.delete(index);
    }
    for (const { middle, places: [first, ...rest] } of groups) {
      if (!buttons.has(first.index)) {
        const button = make("button", { type: "button", class: `place ${first.kind}`, "data-place": first.index, onclick: () => go(first), onmousedown: (event) => event.stopPropagation(), ondblclick: (event) => event.stopPropagation() });
        buttons.set(first.index, button);
        u.over.append(button);
      }
      const button = buttons.get(first.index);
      const text = rest.length ? `${rest.length + 1} places; the first: ${first.text}` : first.text;
      button.style.left = `${middle}px`;
      button.title = text;
      button.setAttribute("aria-label", text);
      button.textContent = rest.length ? String(rest.length + 1) : "";
    }
  }
  return { hooks: { draw: [shade, label] } };
}

export function placeList({ shown, left_out: leftOut }, go) {
  if (!shown.length) return null;
  const count = shown.length + leftOut;
  return make("details", { id: "places", open: true }, make("summary", {}, count === 1 ? "1 place to look at" : `${count} places to look at`),
    make("ol", {}, shown.map((place, index) => make("li", {}, make("button", { type: "button", "data-listed": index, onclick: () => go(place) }, make("span", { class: `kind ${place.kind}` }, KINDS[place.kind] ?? place.kind), place.text)))),
    leftOut ? make("p", { class: "note" }, `${leftOut} shorter ones are not listed.`) : null);
}
