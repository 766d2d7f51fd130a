// Steps, theme and the stream of events.
import { refreshFits, refreshRecords, state, tell } from "./api.js";
import { fill, say } from "./dom.js";
import { redrawAll } from "./plot.js";
import "./data.js";
import "./fit.js";
import "./compare.js";
import "./whatif.js";
import "./takeaway.js";

document.getElementById("theme").addEventListener("click", () => theme.apply(theme.current() === "dark" ? "light" : "dark"));

const tabs = [...document.querySelectorAll("nav [role=tab]")];

function open(name) {
  for (const tab of tabs) {
    const isOpen = tab.getAttribute("aria-controls") === name;
    tab.setAttribute("aria-selected", String(isOpen));
    tab.tabIndex = isOpen ? 0 : -1;
    document.getElementById(tab.getAttribute("aria-controls")).hidden = !isOpen;
  }
  if (location.hash !== `#${name}`) history.replaceState(null, "", `#${name}`);
  redrawAll(true);
  tell(`open-${name}`);
  tell("jobs");
}

tabs.forEach((tab, index) => {
  tab.addEventListener("click", () => {
    // What was said was about the step before.
    fill(document.getElementById("said"));
    open(tab.getAttribute("aria-controls"));
  });
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = tabs[(index + step + tabs.length) % tabs.length];
    next.focus();
    next.click();
  });
});

function follow() {
  const events = new EventSource("/api/events");
  let before = new Map();
  let known = null;
  events.onmessage = async (event) => {
    const { jobs, live, listing } = JSON.parse(event.data);
    const ended = jobs.filter((job) => before.get(job.id) === "running" && job.status !== "running");
    before = new Map(jobs.map((job) => [job.id, job.status]));
    Object.assign(state, { jobs, live });
    tell("jobs");
    for (const job of ended) {
      if (job.status === "done") state.fit = job.name;
      say(job.status === "done" ? `'${job.name}' is done.` : `'${job.name}': ${job.message}`, job.status === "done" ? "" : "error");
    }
    // A fit, a file, a name or a note has changed, here or in a terminal.
    if (listing !== known) {
      known = listing;
      try {
        await refreshFits();
        await refreshRecords();
      } catch (error) {
        say(error.message, "error");
      }
    }
  };
  events.onerror = () => { if (events.readyState === EventSource.CLOSED) say("The studio has stopped. Start it again in its terminal, and open the link that it shows.", "error"); };
}

open(["data", "fit", "compare", "whatif", "takeaway"].find((name) => location.hash === `#${name}`) || "data");
follow();
