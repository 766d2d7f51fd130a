// The server, and what the page knows of it.

async function answer(response) {
  const text = await response.text();
  let value = {};
  try {
    value = text ? JSON.parse(text) : {};
  } catch {
    value = { error: text };
  }
  if (!response.ok) throw new Error(value.error || `the server answered ${response.status}`);
  return value;
}

async function ask(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Error("the studio does not answer: is it still running in its terminal?");
  }
  return answer(response);
}

export const get = (path) => ask(path);
export const post = (path, body = {}) => ask(path, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});
export const put = (path, file) => ask(path, { method: "PUT", body: file });
export const at = (...parts) => "/" + parts.map(encodeURIComponent).join("/");

// What several panels look at. Who changes it tells the others.
export const state = { records: [], fits: [], bin: [], jobs: [], live: null, data: null, fit: null, shown: new Set() };
const listeners = new Map();

export function on(topic, listener) {
  listeners.set(topic, (listeners.get(topic) || []).concat(listener));
}

export function tell(topic) {
  (listeners.get(topic) || []).forEach((listener) => listener());
}

export async function refreshRecords() {
  state.records = (await get("/api/data")).records;
  tell("records");
}

export async function refreshFits() {
  const { fits, bin } = await get("/api/fits");
  Object.assign(state, { fits, bin });
  if (!fits.some((fit) => fit.name === state.fit)) state.fit = fits.length ? fits[fits.length - 1].name : null;
  tell("fits");
}
