// The flame graph on its figure: a canvas as large as what is seen of it, inside a scroll box of the browser's own.
import { setText } from "./dom.js";
import { ROW, drawList, nodeAt, rowY } from "./draw-list.js";
import { ancestorsOf, nodeAround } from "./frame-path.js";
import { describeAround } from "./graph-aria.js";
import { SHADE_MATCH, ownShades, readTokens, withMatches } from "./graph-colours.js";
import { paint, paintMinimap, sizeCanvas } from "./graph-paint.js";
import { bindTip } from "./graph-tip.js";
import { bindZoom } from "./graph-zoom.js";
import { keyAction, neighbour } from "./keys.js";
import { depthOf, nameOf, rowOf } from "./layout.js";
import { matchTicks } from "./search.js";
import { textMeasure } from "./text-fit.js";

/**
 * Binds a figure. `on` has zoomed(), selected() and key(action) for what the graph does not do itself.
 * show(picture) draws a tree; zoomTo, select, setFound and setFlame change what is seen of it.
 */
export function bindGraph(figure, on) {
  const box = figure.querySelector("[role=tree]");
  const space = figure.querySelector(".graph-space");
  const screen = figure.querySelector(".graph-screen");
  const canvas = screen.querySelector("canvas");
  const minimap = figure.querySelector(".minimap");
  const list = figure.querySelector(".graph-items");
  const rings = { hover: figure.querySelector(".ring.hover"), selected: figure.querySelector(".ring.selected-ring") };
  const tip = bindTip(figure.querySelector(".tip"));
  const context = canvas.getContext("2d");
  const view = { v0: 0, v1: 1, width: 0, top: 0, height: 0, isFlame: false };
  const state = { tree: null, words: null, moved: null, found: null, ownShadeOf: null, shadeOf: null, focus: 0, selected: 0, hover: -1, faded: new Set(), ticks: [] };
  let tokens = readTokens(figure);
  let measure = newMeasure();
  let isPending = false;

  const zooming = bindZoom(screen, { total: () => span(), width: () => view.width, onDomain: moveDomain });
  const span = () => state.tree?.width[0] || 1;

  function newMeasure() {
    context.font = tokens.font;
    return textMeasure((text) => context.measureText(text).width);
  }

  function moveDomain(v0, v1, isByHand) {
    [view.v0, view.v1] = [v0, v1];
    if (isByHand && state.tree) {
      setFocus(nodeAround(state.tree, v0, v1));
      on.zoomed({ isByHand: true });
    }
    request();
  }

  function setFocus(node) {
    state.focus = node;
    state.faded = new Set(ancestorsOf(state.tree, node).slice(0, -1));
    figure.dataset.zoomPath = ancestorsOf(state.tree, node).slice(1).map((i) => nameOf(state.tree, i)).join(";");
  }

  function request() {
    if (isPending) return;
    isPending = true;
    requestAnimationFrame(() => {
      isPending = false;
      draw();
    });
  }

  function draw() {
    if (!state.tree || !measureScreen()) return;
    const pixelRatio = devicePixelRatio || 1;
    sizeCanvas(canvas, view.width, view.height, pixelRatio);
    context.setTransform(pixelRatio, 0, 0, pixelRatio, 0, 0);
    const isExact = state.tree.total2 !== null;
    const drawn = drawList(state.tree, view, state.shadeOf, { matchesBefore: state.found?.before, matchShade: SHADE_MATCH, isExact });
    paint(context, { ...state, view, list: drawn, measure, pixelRatio }, tokens);
    drawMinimap(pixelRatio);
    placeRings();
  }

  function measureScreen() {
    const rows = depthOf(state.tree) * ROW;
    space.style.height = `${rows}px`;
    view.width = box.clientWidth;
    view.height = Math.min(box.clientHeight, rows);
    view.top = Math.min(box.scrollTop, rows - view.height);
    screen.style.height = `${view.height}px`;
    return view.width > 0 && view.height > 0;
  }

  function drawMinimap(pixelRatio) {
    const brush = minimap.getContext("2d");
    sizeCanvas(minimap, view.width, 8, pixelRatio);
    brush.setTransform(pixelRatio, 0, 0, pixelRatio, 0, 0);
    const scale = view.width / span();
    const isZoomed = view.v1 - view.v0 < span();
    paintMinimap(brush, { width: view.width, ticks: state.ticks, from: view.v0 * scale, to: view.v1 * scale, isZoomed }, tokens);
  }

  function placeRings() {
    placeRing(rings.hover, state.hover);
    placeRing(rings.selected, state.selected);
  }

  function placeRing(ring, node) {
    const frame = node > 0 || (node === 0 && ring === rings.hover) ? frameBox(node) : null;
    ring.hidden = !frame || frame.x + frame.w <= 0 || frame.x >= view.width;
    if (ring.hidden) return;
    const left = Math.max(0, frame.x);
    ring.style.transform = `translate(${left}px, ${frame.y}px)`;
    ring.style.width = `${Math.max(2, Math.min(view.width, frame.x + frame.w) - left - (frame.w > 3 ? 1 : 0))}px`;
  }

  function frameBox(node) {
    const scale = view.width / (view.v1 - view.v0);
    const { tree } = state;
    return { x: (tree.x0[node] - view.v0) * scale, y: rowY(tree, view, rowOf(tree, node)), w: tree.width[node] * scale, h: ROW - 1 };
  }

  function select(node, { isQuiet = false } = {}) {
    state.selected = node;
    figure.dataset.selected = nameOf(state.tree, node);
    describeAround(box, list, state.tree, state.words, state);
    if (!isQuiet) on.selected();
    request();
  }

  function zoomTo(node, { isInstant = false, range = null, isQuiet = false } = {}) {
    setFocus(node);
    const [x0, width] = [state.tree.x0[node], state.tree.width[node] || span()];
    const [from, to] = range ?? [0, 1];
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

  function reveal(node) {
    const y = rowY(state.tree, view, rowOf(state.tree, node));
    if (y < 0) box.scrollTop += y;
    else if (y + ROW > view.height) box.scrollTop += y + ROW - view.height;
    const { x, w } = frameBox(node);
    if (w < 3 || x + w <= 0 || x >= view.width) zoomTo(x + w <= 0 || x >= view.width ? commonFrame(node) : node);
  }

  // The deepest ancestor in which the node is wide enough to be seen.
  function commonFrame(node) {
    const { tree } = state;
    const wide = ancestorsOf(tree, node).filter((above) => (tree.width[node] / tree.width[above]) * view.width >= 28);
    return wide[0] ?? node;
  }

  function pointed(event) {
    const edge = screen.getBoundingClientRect();
    return nodeAt(state.tree, view, event.clientX - edge.left, event.clientY - edge.top);
  }

  function pointerMoved(event) {
    if (!state.tree || event.pointerType === "touch") return;
    const node = event.buttons ? -1 : pointed(event);
    if (node !== state.hover) {
      state.hover = node;
      placeRing(rings.hover, node);
    }
    if (node < 0) return tip.hide();
    const edge = figure.getBoundingClientRect();
    tip.show(nameOf(state.tree, node), state.words.facts(node, state.focus), { x: event.clientX - edge.left, y: event.clientY - edge.top }, edge);
  }

  function pointerLeft() {
    state.hover = -1;
    rings.hover.hidden = true;
    tip.hide();
  }

  // The second click of a double click does nothing, so that both zoom in once. A click on the zoomed frame leads out.
  function clicked(event) {
    if (!state.tree || event.detail > 1) return;
    const node = pointed(event);
    if (node < 0) return;
    select(node);
    const isShown = node === state.focus && !range();
    zoomTo(isShown ? Math.max(0, state.tree.parent[node]) : node);
  }

  function keyPressed(event) {
    const action = state.tree ? keyAction(event, view) : "";
    if (!action) return;
    event.preventDefault();
    if (["child", "parent", "left", "right"].includes(action)) {
      select(neighbour(state.tree, state.selected, action));
      reveal(state.selected);
    } else if (action === "zoom") zoomTo(state.selected);
    else if (action === "out") zoomTo(range() ? state.focus : Math.max(0, state.tree.parent[state.focus]));
    else if (action === "home") zoomTo(0);
    else if (action === "closer" || action === "farther") scaleBy(action === "closer" ? 0.5 : 2);
    else on.key(action);
  }

  function scaleBy(factor) {
    const middle = (view.v0 + view.v1) / 2;
    const half = Math.min(span(), (view.v1 - view.v0) * factor) / 2;
    const from = Math.min(Math.max(0, middle - half), span() - 2 * half);
    setFocus(nodeAround(state.tree, from, from + 2 * half));
    zooming.jump(from, from + 2 * half);
    on.zoomed({ isByHand: true });
  }

  screen.addEventListener("pointermove", pointerMoved);
  screen.addEventListener("pointerleave", pointerLeft);
  screen.addEventListener("click", clicked);
  box.addEventListener("keydown", keyPressed);
  box.addEventListener("scroll", () => (request(), tip.hide()), { passive: true });
  new ResizeObserver(resized).observe(box);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
  new MutationObserver(recolour).observe(document.documentElement, { attributeFilter: ["data-theme"] });

  function resized() {
    if (!state.tree) return;
    if (measureScreen() && !zooming.isMoving()) zooming.jump(view.v0, view.v1);
    findTicks();
    request();
  }

  function recolour() {
    tokens = readTokens(figure);
    measure = newMeasure();
    request();
  }

  function findTicks() {
    state.ticks = state.found && state.tree.width[0] > 0 ? matchTicks(state.tree, state.found, Math.max(1, Math.floor(view.width))) : [];
  }

  return {
    state, select, zoomTo, range, reveal, draw,
    /** Draws another tree; what is zoomed and selected is the caller's to restore. */
    show(tree, { words, moved = null }) {
      const ownShadeOf = ownShades(tree);
      Object.assign(state, { tree, words, moved, found: null, ownShadeOf, shadeOf: ownShadeOf, focus: 0, selected: 0, hover: -1, faded: new Set(), ticks: [] });
      figure.dataset.nodes = tree.n;
      figure.classList.add("has-tree");
      setText(figure.querySelector(".graph-wait"), "");
      measureScreen();
      if (view.isFlame) box.scrollTop = box.scrollHeight;
    },
    setFound(found) {
      state.found = found;
      state.shadeOf = found ? withMatches(state.ownShadeOf, state.tree, found.hits) : state.ownShadeOf;
      if (found) figure.dataset.matched = found.frames;
      else delete figure.dataset.matched;
      findTicks();
      request();
    },
    setFlame(isFlame) {
      view.isFlame = isFlame;
      figure.dataset.view = isFlame ? "flame" : "icicle";
      if (!state.tree) return;
      measureScreen();
      box.scrollTop = isFlame ? box.scrollHeight : 0;
      request();
    },
    isFlame: () => view.isFlame,
    focusKeys: () => box.focus(),
    /** Where a frame is in the window, {x, y, w, h}; null when it is not seen. */
    boxOf(node) {
      const edge = screen.getBoundingClientRect();
      const { x, y, w, h } = frameBox(node);
      const [left, right] = [Math.max(0, x), Math.min(view.width, x + w)];
      return right > left && y >= 0 && y < view.height ? { x: edge.left + left, y: edge.top + y, w: right - left, h } : null;
    },
  };
}
