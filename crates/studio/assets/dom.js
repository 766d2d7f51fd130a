// Elements. Whatever comes from the server becomes text, never markup.

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name === "value") element.value = value;
    else if (value === true) element.setAttribute(name, "");
    else element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
}

// A field with its label and, where there is something to explain, a line below.
export function field(label, control, note) {
  return make("label", {}, label, control, note ? make("small", {}, note) : null);
}

export function choice(options, current, attributes = {}) {
  const select = make("select", attributes, options.map(([value, text]) => make("option", { value }, text)));
  if (current !== undefined && current !== null) select.value = current;
  return select;
}

// What happened, for eyes and screen readers; errors stay until the next word.
export function say(text, kind = "", action = null) {
  const line = make("p", { class: kind }, text);
  if (action) line.append(make("button", { type: "button", onclick: () => { fill(document.getElementById("said")); action.act(); } }, action.label));
  line.append(make("button", { type: "button", "aria-label": "Close this message", onclick: () => line.remove() }, "×"));
  fill(document.getElementById("said"), line);
}

// Runs what a button asks for, and says what went wrong.
export function attempt(work) {
  return async (event) => {
    try {
      await work(event);
    } catch (error) {
      say(error.message, "error");
    }
  };
}

export const number = (value) => charts.number(value);
export const percent = (share) => share === null || share === undefined ? "–" : `${(100 * share).toFixed(1)} %`;

export function seconds(value) {
  if (value === null || value === undefined) return "–";
  if (value < 0.1) return `${Math.round(value * 1000)} ms`;
  if (value < 100) return `${value < 10 ? value.toFixed(1) : Math.round(value)} s`;
  const [minutes, rest] = [Math.floor(Math.round(value) / 60), Math.round(value) % 60];
  return rest ? `${minutes} min ${rest} s` : `${minutes} min`;
}

// A plot as wide as its place, whatever became of the window.
export function fitWidth(plot, place) {
  if (place.clientWidth && plot.width !== place.clientWidth) plot.setSize({ width: place.clientWidth, height: plot.height });
}

export const withUnit = (channel) => channel.unit ? `${channel.name} [${channel.unit}]` : channel.name;
