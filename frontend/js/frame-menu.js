// The menu of what can be done with the selected frame: at its word, where the pointer is, or by a key.
import { element, icon } from "./dom.js";
import { closeMenus, openMenu, placeMenu } from "./menus.js";

/** The menu with entries {id, key, words, act}, closed. */
export function frameMenu(entries) {
  const panel = element("div", {}, entries.map(button));
  const menu = element(
    "details",
    { class: "menu", "data-part": "frame-menu" },
    element("summary", {}, "Change the graph", icon("i-down")),
    panel,
  );
  menu.addEventListener("toggle", () => menu.open && placeAtWord(menu, panel));
  return menu;
}

function button({ id, key, words, act }) {
  const made = element(
    "button",
    { type: "button", "data-action": id, "aria-keyshortcuts": key },
    element("span", {}, words),
    element("kbd", { "aria-hidden": "true" }, key),
  );
  made.addEventListener("click", () => (closeMenus(), act()));
  return made;
}

// A menu that was opened at a point stays there.
function placeAtWord(menu, panel) {
  if (panel.style.left) return;
  const { left, bottom } = menu.querySelector("summary").getBoundingClientRect();
  placeMenu(panel, { x: left, y: bottom + 4 });
}

/** Opens the menu inside of `line`: at a point {x, y} of the window, or at its word; `back()` takes the focus afterwards. */
export function openFrameMenu(line, at, back) {
  const menu = line.querySelector("[data-part=frame-menu]");
  openMenu(menu, back);
  if (at) placeMenu(menu.lastElementChild, at);
}
