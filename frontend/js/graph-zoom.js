// Keeps the part of the tree that is seen, [v0, v1] in values: wheel, pinch and drag by d3-zoom, clicks by an animation.
import { easeCubicOut, interpolateNumber, select, timer, zoom, zoomIdentity } from "../vendor/d3.js";
import { prefersReducedMotion } from "./dom.js";

const DURATION_MS = 250;
const MAX_SCALE = 2 ** 40; // 1 TiB down to single bytes

/**
 * Binds zooming to `host`. `total()` and `width()` give the whole domain and the pixels it is drawn on; `onDomain(v0, v1,
 * isByHand)` is called for each change. Returns show(v0, v1) and jump(v0, v1): with and without the way there.
 */
export function bindZoom(host, { total, width, onDomain }) {
  let domain = [0, 1];
  let running = null;
  const selection = select(host);
  const behaviour = zoom().scaleExtent([1, MAX_SCALE]).filter(isOurs).wheelDelta(wheelDelta).on("zoom", moved);
  selection.call(behaviour).on("dblclick.zoom", null);

  function isOurs(event) {
    if (event.type === "wheel") return event.ctrlKey || event.metaKey;
    if (event.touches) return event.touches.length > 1;
    return event.button === 0 && !event.ctrlKey && domain[1] - domain[0] < total();
  }

  function moved({ transform, sourceEvent }) {
    if (!sourceEvent) return;
    stop();
    const span = total() / transform.k;
    const v0 = Math.min(Math.max(0, (-transform.x * total()) / (width() * transform.k)), total() - span);
    set([v0, v0 + span], true);
  }

  function set(next, isByHand) {
    domain = next;
    onDomain(domain[0], domain[1], isByHand);
  }

  // d3-zoom keeps its own transform: after each move of ours it has to know where it is.
  function synchronise() {
    const k = total() / (domain[1] - domain[0]);
    const extent = [
      [0, 0],
      [width(), 1],
    ];
    behaviour.extent(extent).translateExtent([
      [0, -Infinity],
      [width(), Infinity],
    ]);
    behaviour.transform(selection, zoomIdentity.translate((-domain[0] / total()) * width() * k, 0).scale(k));
  }

  function stop() {
    running?.stop();
    running = null;
  }

  function jump(v0, v1) {
    stop();
    set([v0, v1], false);
    if (total() > 0 && width() > 0) synchronise();
  }

  function show(v0, v1) {
    if (prefersReducedMotion()) return jump(v0, v1);
    stop();
    const at = [interpolateNumber(domain[0], v0), interpolateNumber(domain[1], v1)];
    running = timer((elapsed) => {
      if (elapsed >= DURATION_MS) return jump(v0, v1);
      const t = easeCubicOut(elapsed / DURATION_MS);
      set([at[0](t), at[1](t)], false);
    });
  }

  return { show, jump, isMoving: () => running !== null };
}

// A notch of a wheel doubles; a pinch comes in small deltas.
function wheelDelta(event) {
  const delta = event.deltaY * (event.deltaMode === 1 ? 33 : 1);
  return Math.max(-1, Math.min(1, -delta * 0.01));
}
