// What is seen of a graph: sizes the canvas to its scroll box, paints it once a frame, and lays the rings over it.
import { ROW, drawList, rowY } from "./draw-list.js";
import { SHADE_MATCH, readTokens } from "./graph-colours.js";
import { paint, paintMinimap, sizeCanvas } from "./graph-paint.js";
import { depthOf, rowOf } from "./layout.js";
import { watchLook } from "./look.js";
import { textMeasure } from "./text-fit.js";

/** Binds the figure's canvases. `state` is the graph's, `view` the part that is seen: {v0, v1, width, top, height, isFlame}. */
export function bindScreen(figure, state, view) {
  const box = figure.querySelector("[role=tree]");
  const space = figure.querySelector(".graph-space");
  const screen = figure.querySelector(".graph-screen");
  const canvas = screen.querySelector("canvas");
  const minimap = figure.querySelector(".minimap");
  const rings = [
    [figure.querySelector(".ring.hover"), () => state.hover],
    [figure.querySelector(".ring.selected-ring"), () => state.selected || -1],
  ];
  const context = canvas.getContext("2d");
  let tokens = readTokens(figure);
  let measure = newMeasure();
  let pending = 0;

  function newMeasure() {
    context.font = tokens.font;
    return textMeasure((text) => context.measureText(text).width);
  }

  function request() {
    pending ||= requestAnimationFrame(draw);
  }

  function draw() {
    cancelAnimationFrame(pending);
    pending = 0;
    if (!state.tree || !fit()) return;
    const pixelRatio = devicePixelRatio || 1;
    sizeCanvas(canvas, view.width, view.height, pixelRatio);
    context.setTransform(pixelRatio, 0, 0, pixelRatio, 0, 0);
    paint(context, { ...state, view, list: listOf(view), measure, pixelRatio }, tokens);
    drawMinimap(pixelRatio);
    placeRings();
  }

  /** What is seen with all rows, also those scrolled out of sight: {state, view, list, tokens, measure}. */
  function picture() {
    const whole = { ...view, top: 0, height: depthOf(state.tree) * ROW };
    return { state, view: whole, list: listOf(whole), tokens, measure };
  }

  const listOf = (part) =>
    drawList(state.tree, part, state.shadeOf, {
      matchesBefore: state.found?.before,
      matchShade: SHADE_MATCH,
      isExact: state.tree.total2 !== null,
    });

  /** Reads the sizes of the box into the view; false while nothing of it can be seen. */
  function fit() {
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
    const all = state.tree.width[0] || 1;
    const scale = view.width / all;
    paintMinimap(
      brush,
      {
        width: view.width,
        ticks: state.ticks,
        from: view.v0 * scale,
        to: view.v1 * scale,
        isZoomed: view.v1 - view.v0 < all,
      },
      tokens,
    );
  }

  function placeRings() {
    for (const [ring, node] of rings) placeRing(ring, node());
  }

  function placeRing(ring, node) {
    const frame = node >= 0 ? frameBox(node) : null;
    ring.hidden = !frame || frame.x + frame.w <= 0 || frame.x >= view.width;
    if (ring.hidden) return;
    const left = Math.max(0, frame.x);
    const gap = frame.w > 3 ? 1 : 0;
    ring.style.transform = `translate(${left}px, ${frame.y}px)`;
    ring.style.width = `${Math.max(2, Math.min(view.width, frame.x + frame.w) - left - gap)}px`;
  }

  /** Where a frame is on the canvas, also beyond its edges. */
  function frameBox(node) {
    const { tree } = state;
    const scale = view.width / (view.v1 - view.v0);
    return {
      x: (tree.x0[node] - view.v0) * scale,
      y: rowY(tree, view, rowOf(tree, node)),
      w: tree.width[node] * scale,
      h: ROW - 1,
    };
  }

  function recolour() {
    tokens = readTokens(figure);
    measure = newMeasure();
    request();
  }

  watchLook(recolour);
  return { box, screen, draw, request, fit, placeRings, frameBox, picture };
}
