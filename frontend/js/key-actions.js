// What the keys of a graph do to the page around it: each presses a button, opens a menu, or goes to a field.
import { part } from "./dom.js";
import { openFrameMenu } from "./frame-menu.js";
import { openMenu } from "./menus.js";

/** Functions by action of keys.js. `back()` gives the focus to the graph again; `act` holds those that the viewer does itself. */
export function keyActions(root, back, act) {
  const press = (name) => () => part(root, name)?.click();
  const goTo = (name) => () => part(root, name).focus();
  const open = (name) => () => openMenu(part(root, name), back);
  return {
    ...act,
    ...Object.fromEntries(
      ["marks", "keep", "copy-link", "copy-stack", "copy-markdown"].map((name) => [name, press(name)]),
    ),
    search: goTo("search"),
    colours: goTo("colour"),
    filter: goTo("filter"),
    steps: open("steps"),
    save: open("save"),
    reading: open("reading-menu"),
    "frame-menu": (point) => openFrameMenu(part(root, "selected"), point, back),
  };
}
