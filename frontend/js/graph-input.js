// Pointer and keyboard on a graph, turned into what the graph can do.
import { bindTip } from "./graph-tip.js";
import { keyAction, neighbour } from "./keys.js";
import { nameOf } from "./layout.js";
import { nodeAt } from "./draw-list.js";

/** Binds hovering with its tooltip, and clicks; `hovered()` is told. `graph` has state, view, screen, select, zoomTo and range. */
export function bindPointer(figure, graph, hovered = () => {}) {
  const { state, view } = graph;
  const { screen, box } = graph.screen;
  const tip = bindTip(figure.querySelector(".tip"));

  function nodeUnder(event) {
    const edge = screen.getBoundingClientRect();
    return nodeAt(state.tree, view, event.clientX - edge.left, event.clientY - edge.top);
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
  function clicked(event) {
    const node = state.tree && event.detail < 2 ? nodeUnder(event) : -1;
    if (node < 0) return;
    graph.select(node);
    const isShown = node === state.focus && !graph.range();
    graph.zoomTo(isShown ? Math.max(0, state.tree.parent[node]) : node);
  }

  screen.addEventListener("pointermove", moved);
  screen.addEventListener("pointerleave", left);
  screen.addEventListener("click", clicked);
  box.addEventListener("scroll", () => (graph.screen.request(), tip.hide()), { passive: true });
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
    if (!action) return;
    event.preventDefault();
    (actions[action] ?? (() => other(action)))();
  });
}
