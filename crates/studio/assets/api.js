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

// What several panels look at. Who changes it tells the others. `revisions`: of the choices as they are shown here, by recording.
export const state = { records: [], fits: [], bin: [], jobs: [], live: null, data: null, fit: null, shown: new Set(), revisions: new Map() };
const listeners = new Map();

export function on(topic, listener) {
  listeners.set(topic, (listeners.get(topic) || []).concat(listener));
}

export function tell(topic) {
  (listeners.get(topic) || []).forEach((listener) => listener());
}

// Keeps a choice in place of the one that `view` shows. The server refuses if it is another by now: somebody has changed it elsewhere.
let keeping = Promise.resolve();
export function keepChoice({ id, revision }, choice) {
  const kept = post(at("api", "data", id, "choice"), { ...choice, revision }).then((found) => {
    state.revisions.set(id, found.revision);
    return found;
  });
  keeping = Promise.allSettled([keeping, kept]);
  return kept;
}

// Until all that was chosen here is kept, or refused.
export const choicesKept = () => keeping;

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
