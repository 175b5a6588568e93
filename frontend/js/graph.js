// The flame graph on its figure: which tree, which part of it, what is zoomed, selected and found.
import { afterSeen } from "./dom.js";
import { ROW, rowY } from "./draw-list.js";
import { ancestorsOf, nodeAround } from "./frame-path.js";
import { describeAround } from "./graph-aria.js";
import { ownShades, withMatches } from "./graph-colours.js";
import { bindKeys, bindPointer } from "./graph-input.js";
import { bindScreen } from "./graph-screen.js";
import { bindZoom } from "./graph-zoom.js";
import { nameOf, rowOf } from "./layout.js";
import { matchTicks } from "./search.js";

const SEEN_PX = 28; // a frame that was asked for is shown at least this wide, if its parents allow

/**
 * Binds a figure. `on` has zoomed({isByHand}), selected(), perhaps hovered(), and key(action, point) for what the graph
 * does not do itself.
 * show(tree, …) draws a tree; zoomTo, select, setFound and setFlame change what is seen of it.
 */
export function bindGraph(figure, on) {
  const view = { v0: 0, v1: 1, width: 0, top: 0, height: 0, isFlame: false };
  const state = {
    tree: null,
    words: null,
    moved: null,
    found: null,
    ownShadeOf: null,
    shadeOf: null,
    focus: 0,
    selected: 0,
    hover: -1,
    faded: new Set(),
    ticks: [],
    plateaus: null,
  };
  const screen = bindScreen(figure, state, view);
  const list = figure.querySelector(".graph-items");
  const zooming = bindZoom(screen.screen, { total: all, width: () => view.width, onDomain: moveDomain });

  function all() {
    return state.tree?.width[0] || 1;
  }

  function moveDomain(v0, v1, isByHand) {
    [view.v0, view.v1] = [v0, v1];
    if (isByHand && state.tree) {
      setFocus(nodeAround(state.tree, v0, v1));
      on.zoomed({ isByHand: true });
    }
    screen.request();
  }

  function setFocus(node) {
    const path = ancestorsOf(state.tree, node);
    state.focus = node;
    state.faded = new Set(path.slice(0, -1));
    figure.dataset.zoomPath = path
      .slice(1)
      .map((each) => nameOf(state.tree, each))
      .join(";");
  }

  function select(node, { isQuiet = false } = {}) {
    state.selected = node;
    figure.dataset.selected = nameOf(state.tree, node);
    if (isQuiet) afterSeen(describe);
    else describe();
    if (!isQuiet) on.selected();
    screen.request();
  }

  // Some hundred items: a graph that comes is seen before they are made.
  function describe() {
    describeAround(screen.box, list, state.tree, state.words, state);
  }

  function zoomTo(node, { isInstant = false, range: part = null, isQuiet = false } = {}) {
    setFocus(node);
    const [x0, width] = [state.tree.x0[node], state.tree.width[node] || all()];
    const [from, to] = part ?? [0, 1];
    (isInstant ? zooming.jump : zooming.show)(x0 + from * width, x0 + to * width);
    if (!isQuiet) on.zoomed({ isByHand: false });
  }

  /** The part of the focus that is seen, null for all of it. */
  function range() {
    if (zooming.isMoving()) return null;
    const [x0, width] = [state.tree.x0[state.focus], state.tree.width[state.focus] || 1];
    const part = [(view.v0 - x0) / width, (view.v1 - x0) / width].map((share) => Math.min(1, Math.max(0, share)));
    return part[0] > 1e-6 || part[1] < 1 - 1e-6 ? part : null;
  }

  function scaleBy(factor) {
    const middle = (view.v0 + view.v1) / 2;
    const half = Math.min(all(), (view.v1 - view.v0) * factor) / 2;
    const from = Math.min(Math.max(0, middle - half), all() - 2 * half);
    setFocus(nodeAround(state.tree, from, from + 2 * half));
    zooming.jump(from, from + 2 * half);
    on.zoomed({ isByHand: true });
  }

  /** Scrolls and zooms as little as is needed to see a frame. */
  function reveal(node) {
    const y = rowY(state.tree, view, rowOf(state.tree, node));
    if (y < 0) screen.box.scrollTop += y;
    else if (y + ROW > view.height) screen.box.scrollTop += y + ROW - view.height;
    const { x, w } = screen.frameBox(node);
    const isOutside = x + w <= 0 || x >= view.width;
    if (isOutside || w < 3) zoomTo(widestAround(node));
  }

  // The uppermost frame in which the node is wide enough to be seen.
  function widestAround(node) {
    const { tree } = state;
    return (
      ancestorsOf(tree, node).find((above) => (tree.width[node] / tree.width[above]) * view.width >= SEEN_PX) ?? node
    );
  }

  function findTicks() {
    state.ticks =
      state.found && state.tree.width[0] > 0
        ? matchTicks(state.tree, state.found, Math.max(1, Math.floor(view.width)))
        : [];
  }

  function resized() {
    const { width, height } = view;
    if (!state.tree || !screen.fit() || (width === view.width && height === view.height)) return;
    if (!zooming.isMoving()) zooming.jump(view.v0, view.v1);
    findTicks();
    screen.request();
  }

  function toRoot() {
    screen.fit();
    screen.box.scrollTop = view.isFlame ? screen.box.scrollHeight : 0;
  }

  const graph = {
    state,
    view,
    screen,
    select,
    zoomTo,
    range,
    reveal,
    scaleBy,
    draw: screen.draw,
    isFlame: () => view.isFlame,
    focusKeys: () => screen.box.focus(),
    /** Draws another tree; what is zoomed and selected in it is the caller's to restore. */
    show(tree, { words, moved = null, colour }) {
      const isFirst = !state.tree;
      const ownShadeOf = ownShades(tree, colour);
      Object.assign(state, {
        tree,
        words,
        moved,
        found: null,
        ownShadeOf,
        shadeOf: ownShadeOf,
        focus: 0,
        selected: 0,
        hover: -1,
        faded: new Set(),
        ticks: [],
        plateaus: null,
      });
      figure.dataset.nodes = tree.n;
      figure.classList.add("has-tree");
      if (isFirst) toRoot();
      else screen.fit();
    },
    setFound(found) {
      state.found = found;
      state.shadeOf = found ? withMatches(state.ownShadeOf, state.tree, found.hits) : state.ownShadeOf;
      if (found) figure.dataset.matched = found.frames;
      else delete figure.dataset.matched;
      findTicks();
      screen.request();
    },
    /** Colours the frames anew, as graph-colours.js has it. */
    setColour(colour) {
      state.ownShadeOf = ownShades(state.tree, colour);
      state.shadeOf = state.found ? withMatches(state.ownShadeOf, state.tree, state.found.hits) : state.ownShadeOf;
      screen.request();
    },
    /** Rings a frame as if the pointer were over it, -1 for none. */
    ring(node) {
      state.hover = node;
      screen.placeRings();
    },
    /** Marks frames, one byte a node; null for none. */
    setPlateaus(plateaus) {
      state.plateaus = plateaus;
      screen.request();
    },
    setFlame(isFlame) {
      const isOther = view.isFlame !== isFlame;
      view.isFlame = isFlame;
      figure.dataset.view = isFlame ? "flame" : "icicle";
      if (!state.tree || !isOther) return;
      toRoot();
      screen.request();
    },
    /** Where a frame is in the window, {x, y, w, h}; null when it is not seen. */
    boxOf(node) {
      const edge = screen.screen.getBoundingClientRect();
      const { x, y, w, h } = screen.frameBox(node);
      const [left, right] = [Math.max(0, x), Math.min(view.width, x + w)];
      return right > left && y >= 0 && y < view.height
        ? { x: edge.left + left, y: edge.top + y, w: right - left, h }
        : null;
    },
  };

  Object.assign(graph, bindPointer(figure, graph, on.key, on.hovered));
  bindKeys(graph, on.key);
  new ResizeObserver(resized).observe(screen.box);
  return graph;
}
