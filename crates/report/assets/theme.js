"use strict";
// Colours live in the style sheet; charts read them from there, so that both themes are said once.
const theme = (() => {
  const root = document.documentElement;
  const listeners = [];
  const media = window.matchMedia("(prefers-color-scheme: dark)");

  function apply(name) {
    root.dataset.theme = name;
    listeners.forEach((listener) => listener());
  }

  function colour(name) {
    return getComputedStyle(root).getPropertyValue("--" + name).trim();
  }

  // One of the colours that tell series apart.
  function series(index) {
    const colours = colour("colours").split(" ");
    return colours[index % colours.length];
  }

  root.dataset.theme = media.matches ? "dark" : "light";
  media.addEventListener("change", () => apply(media.matches ? "dark" : "light"));
  return { apply, colour, series, current: () => root.dataset.theme, onChange: (listener) => listeners.push(listener) };
})();
