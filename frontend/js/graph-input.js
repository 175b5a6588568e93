// Pointer and keyboard on a graph, turned into what the graph can do.
import { bindTip } from "./graph-tip.js";
import { keyAction, neighbour } from "./keys.js";
import { nameOf } from "./layout.js";
import { bindLongTouch } from "./long-touch.js";
import { openMenus } from "./menus.js";
import { nodeAt } from "./draw-list.js";

/**
 * Binds hovering with its tooltip, clicks, and the menu of a frame: the right button or a long touch calls
 * `other("frame-menu", point)`; `hovered()` is told. `graph` has state, view, screen, select, zoomTo and range.
 * Returns nodeUnder({clientX, clientY}), the node at a point of the window, -1 for none.
 */
export function bindPointer(figure, graph, other, hovered = () => {}) {
  const { state, view } = graph;
  const { screen, box } = graph.screen;
  const tip = bindTip(figure.querySelector(".tip"));

  function nodeUnder({ clientX, clientY }) {
    const edge = screen.getBoundingClientRect();
    return nodeAt(state.tree, view, clientX - edge.left, clientY - edge.top);
  }

  function hover(node) {
    if (node === state.hover) return;
    state.hover = node;
    graph.screen.placeRings();
    hovered();
  }

  function moved(event) {
    if (!state.tree || event.pointerType === "touch") return;
    hover(event.buttons ? -1 : nodeUnder(event));
    if (state.hover < 0) return tip.hide();
    const edge = figure.getBoundingClientRect();
    tip.show(
      nameOf(state.tree, state.hover),
      state.words.facts(state.hover, state.focus),
      { x: event.clientX - edge.left, y: event.clientY - edge.top },
      edge,
    );
  }

  function left() {
    hover(-1);
    tip.hide();
  }

  // The second click of a double click does nothing, so that both zoom in once. A click on the zoomed frame leads out.
  // A finger hides what it touches and has no hovering: its first tap selects, so that the line below says what it is.
  function clicked(event) {
    const isTouch = event.pointerType === "touch";
    const node = state.tree && (isTouch || event.detail < 2) ? nodeUnder(event) : -1;
    if (node < 0) return;
    const isFirstTap = isTouch && node !== state.selected;
    graph.select(node);
    if (isFirstTap) return;
    const isShown = node === state.focus && !graph.range();
    graph.zoomTo(isShown ? Math.max(0, state.tree.parent[node]) : node);
  }

  function menuWanted(event) {
    const node = state.tree ? nodeUnder(event) : -1;
    if (node < 0) return;
    event.preventDefault();
    left();
    graph.select(node);
    other("frame-menu", { x: event.clientX, y: event.clientY });
  }

  screen.addEventListener("pointermove", moved);
  screen.addEventListener("pointerleave", left);
  screen.addEventListener("click", clicked);
  bindLongTouch(screen, menuWanted);
  screen.addEventListener("contextmenu", menuWanted);
  box.addEventListener("scroll", () => (graph.screen.request(), tip.hide()), { passive: true });
  return { nodeUnder };
}

/** Binds the keys of keys.js; what the graph does not do itself goes to `other(action)`. */
export function bindKeys(graph, other) {
  const { state } = graph;
  const walk = (action) => () => {
    graph.select(neighbour(state.tree, state.selected, action));
    graph.reveal(state.selected);
  };
  const actions = {
    ...Object.fromEntries(["child", "parent", "left", "right"].map((action) => [action, walk(action)])),
    zoom: () => graph.zoomTo(state.selected),
    out: () => graph.zoomTo(graph.range() ? state.focus : Math.max(0, state.tree.parent[state.focus])),
    home: () => graph.zoomTo(0),
    closer: () => graph.scaleBy(0.5),
    farther: () => graph.scaleBy(2),
  };

  graph.screen.box.addEventListener("keydown", (event) => {
    const action = state.tree ? keyAction(event, graph.view) : "";
    if (!action || (action === "out" && openMenus().length)) return;
    event.preventDefault();
    (actions[action] ?? (() => other(action)))();
  });
}

// Keys that have no meaning in a list, or another: they stay the browser's there.
const OF_THE_PICTURE = ["left", "right", "zoom", "out", "home", "closer", "farther"];

/** Binds the same keys to the list of frames, where up and down go from line to line. */
export function bindListKeys(list, other) {
  list.addEventListener("keydown", (event) => {
    const action = keyAction(event, { isFlame: false });
    if (!action || OF_THE_PICTURE.includes(action)) return;
    event.preventDefault();
    if (action === "child" || action === "parent") walkLines(list, action === "child" ? 1 : -1);
    else other(action);
  });
}

function walkLines(list, step) {
  const lines = [...list.querySelectorAll(".rowlink")];
  const at = lines.indexOf(document.activeElement);
  lines[Math.max(0, Math.min(lines.length - 1, at + step))]?.focus();
}
