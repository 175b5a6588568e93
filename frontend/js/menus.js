// Menus are <details>: here they close by Escape and by a click elsewhere, arrows go through them, and keys open them.

const ENTRIES = "div :is(a[href], button, input, select):not([disabled])";

export const openMenus = () => [...document.querySelectorAll("details.menu[open]")];

/** Closes every open menu that `except` is not part of; the focus of one that had it goes to its word. */
export function closeMenus(except = null) {
  for (const menu of openMenus()) {
    if (menu.contains(except)) continue;
    if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
    menu.open = false;
  }
}

/** Opens a menu with the focus on its first entry; when it closes, `back()` puts a focus that nobody else took. */
export function openMenu(menu, back = () => {}) {
  closeMenus(menu);
  menu.open = true;
  (menu.querySelector(ENTRIES) ?? menu.querySelector("summary")).focus({ preventScroll: true });
  menu.addEventListener("toggle", function closed() {
    if (menu.open) return;
    menu.removeEventListener("toggle", closed);
    if (menu.contains(document.activeElement) || document.activeElement === document.body) back();
  });
}

/** Down and up in an open menu. */
export function walkMenu(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const menu = event.target.closest?.("details.menu[open]");
  if (!step || !menu || event.target.matches("select, input:not([type=checkbox])")) return;
  event.preventDefault();
  const entries = [...menu.querySelectorAll(ENTRIES)];
  const at = entries.indexOf(document.activeElement);
  entries[(at + step + entries.length) % entries.length]?.focus();
}

const EDGE_PX = 8;

/** Puts what a menu shows, which is fixed to the window, at a point; where that is too low or too far right, beside it. */
export function placeMenu(panel, { x, y }) {
  panel.style.left = `${EDGE_PX}px`; // what is further to the right has less room, and would be measured narrower than it gets
  panel.style.left = `${Math.max(EDGE_PX, Math.min(x, innerWidth - panel.offsetWidth - EDGE_PX))}px`;
  panel.style.top = `${Math.max(EDGE_PX, Math.min(y, innerHeight - panel.offsetHeight - EDGE_PX))}px`;
}
