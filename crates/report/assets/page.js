// Draws charts when they come into view, and makes tabs, choices and links work.
(() => {
  const kinds = { ...charts, ...drawn };
  const plots = new Map();

  function draw(figure) {
    if (plots.has(figure) || !figure.checkVisibility()) return;
    const spec = JSON.parse(figure.querySelector("script").textContent);
    const box = document.createElement("div");
    figure.append(box);
    figure.setAttribute("role", "group");
    figure.setAttribute("aria-label", spec.title);
    plots.set(figure, kinds[spec.kind](figure, spec, box));
    figure.dataset.drawn = spec.kind;
  }

  function forget(figure) {
    const plot = plots.get(figure);
    if (!plot) return;
    plot.destroy();
    plots.delete(figure);
    delete figure.dataset.drawn;
    const kept = ["FIGCAPTION", "SCRIPT"];
    [...figure.children].filter((child) => !kept.includes(child.tagName)).forEach((child) => child.remove());
  }

  const figures = [...document.querySelectorAll("figure.chart")];
  const inView = new IntersectionObserver((entries) => {
    entries.filter((entry) => entry.isIntersecting).forEach((entry) => draw(entry.target));
  }, { rootMargin: "400px" });
  figures.forEach((figure) => inView.observe(figure));

  function redraw() {
    const drawnBefore = [...plots.keys()];
    const stretches = drawnBefore.map((figure) => ({ ...plots.get(figure).scales.x }));
    drawnBefore.forEach(forget);
    drawnBefore.forEach((figure, index) => {
      draw(figure);
      const plot = plots.get(figure);
      const { min, max } = stretches[index];
      if (plot && ["band", "input", "overlay"].includes(figure.dataset.drawn)) plot.setScale("x", { min, max });
    });
  }
  theme.onChange(redraw);
  document.getElementById("theme").addEventListener("click", () => theme.apply(theme.current() === "dark" ? "light" : "dark"));

  let width = window.innerWidth;
  let pending;
  window.addEventListener("resize", () => {
    // Phones change their height while scrolling; only the width matters.
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    clearTimeout(pending);
    pending = setTimeout(redraw, 120);
  });

  function choose(tab) {
    for (const other of tab.parentElement.querySelectorAll("[data-tab]")) {
      other.setAttribute("aria-selected", String(other === tab));
      document.getElementById(other.dataset.tab).hidden = other !== tab;
    }
  }
  document.querySelectorAll("[data-tab]").forEach((tab) => {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const tabs = [...tab.parentElement.querySelectorAll("[data-tab]")];
      const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
      next.focus();
      choose(next);
    });
  });

  document.querySelectorAll("[data-runs]").forEach((select) => {
    select.addEventListener("change", () => {
      document.getElementById(select.dataset.runs).querySelectorAll(".run").forEach((run) => { run.hidden = run.dataset.run !== select.value; });
    });
  });

  // Tables with more columns than fit say so, until their end is in view.
  const tables = [...document.querySelectorAll(".scroll")];
  function cue(table) {
    table.toggleAttribute("data-more", table.scrollLeft + table.clientWidth < table.scrollWidth - 2);
  }
  const resized = new ResizeObserver((entries) => entries.forEach((entry) => cue(entry.target)));
  tables.forEach((table) => {
    resized.observe(table);
    table.addEventListener("scroll", () => cue(table), { passive: true });
  });

  const filter = document.getElementById("filter");
  if (filter) {
    filter.addEventListener("input", () => {
      const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      document.querySelectorAll(".group").forEach((group) => {
        const name = group.querySelector("summary").textContent.toLowerCase();
        group.hidden = !words.every((word) => name.includes(word));
      });
    });
  }

  // A link to runs opens them.
  function follow() {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.tagName === "DETAILS") {
      target.hidden = false;
      target.open = true;
      target.scrollIntoView();
    }
  }
  window.addEventListener("hashchange", follow);
  follow();

  // Paper shows every part, on white.
  let before = null;
  window.addEventListener("beforeprint", () => {
    const hidden = [...document.querySelectorAll(".panel[hidden]")];
    before = { hidden, name: theme.current() };
    hidden.forEach((panel) => { panel.hidden = false; });
    theme.apply("light");
    figures.forEach(draw);
  });
  window.addEventListener("afterprint", () => {
    if (!before) return;
    before.hidden.forEach((panel) => { panel.hidden = true; });
    theme.apply(before.name);
    before = null;
  });
})();
