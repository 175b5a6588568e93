// One brush on a time line: a handle on the moment of a level, or a window with two handles on the interval of a flow.
import { element } from "./dom.js";
import { formatValue } from "./format.js";
import { unitOf } from "./run-view.js";
import { intervalName, momentName, pointAt, shareAt } from "./timeline.js";

const STEPS = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 };
const PAGES = { PageDown: -0.1, PageUp: 0.1 }; // of all moments

/**
 * Puts the brush of a letter, "A" or "B", into a box. A range is {since, until}, indices of points; `since` is -1 for the beginning.
 * `move(range, isSettled)` is called while it is moved, and once more when it stays.
 */
export function bindBrush(box, letter, move) {
  const until = handle(letter);
  const since = handle("");
  const pane = element("div", { class: "pane" });
  const brush = element("div", { class: `brush ${letter.toLowerCase()}`, hidden: true }, pane, since, until);
  box.append(brush);
  let shown = null;

  for (const [edge, which] of [
    [until, "until"],
    [since, "since"],
  ]) {
    bindKeys(edge, (key) => moved(which, stepped(shown, which, key)), settled);
    bindDrag(box, edge, (share) => moved(which, nearestEdge(shown.line, share)), settled);
  }

  function moved(which, index) {
    const range = clamped(shown, which, index);
    if (range.since !== shown.range.since || range.until !== shown.range.until) move(range, !shown.line.isFlow);
  }

  /** Of a level each move was settled. */
  function settled() {
    if (shown.line.isFlow) move(shown.range, true);
  }

  return {
    /** `range` null takes it away. */
    show(line, range, run, type) {
      shown = { line, range };
      brush.hidden = !range;
      if (!range) return;
      since.hidden = pane.hidden = !line.isFlow;
      const [left, right] = [range.since, range.until].map((index) => 100 * edgeShare(line, index));
      place(until, right);
      place(since, left);
      pane.style.left = `${left}%`;
      pane.style.width = `${right - left}%`;
      tell(until, since, letter, { line, range, run, type });
    },
  };
}

const handle = (text) =>
  element(
    "div",
    { role: "slider", tabindex: 0, class: "handle" },
    text ? element("b", { "aria-hidden": "true" }, text) : null,
  );

const place = (node, percent) => (node.style.left = `${percent}%`);

const edgeShare = (line, index) => (index < 0 ? 0 : shareAt(line, line.points[index].at));

/** Index of the nearest end of an interval; -1 is the beginning of the axis. */
export function nearestEdge(line, share) {
  const index = pointAt({ ...line, isFlow: false }, share);
  return line.isFlow && share < edgeShare(line, 0) / 2 ? -1 : index;
}

function stepped({ line, range }, which, key) {
  const last = line.points.length - 1;
  if (key === "Home") return -1;
  if (key === "End") return last;
  return range[which] + (STEPS[key] ?? Math.sign(PAGES[key]) * Math.max(1, Math.round(Math.abs(PAGES[key]) * last)));
}

/** An interval has at least one snapshot in it, so one handle stops at the other. */
function clamped({ line, range }, which, index) {
  const last = line.points.length - 1;
  if (which === "since") return { ...range, since: Math.max(-1, Math.min(index, range.until - 1)) };
  return { ...range, until: Math.max(line.isFlow ? range.since + 1 : 0, Math.min(index, last)) };
}

function bindKeys(node, step, settled) {
  const isKnown = ({ key }) => key in STEPS || key in PAGES || key === "Home" || key === "End";
  node.addEventListener("keydown", (event) => {
    if (!isKnown(event) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    step(event.key);
  });
  node.addEventListener("keyup", (event) => isKnown(event) && settled());
}

/** Calls drag(share) while the pointer that went down on `node` moves, and settled() when it is up. */
export function bindDrag(box, node, drag, settled) {
  const shareOf = ({ clientX }) => {
    const { left, width } = box.getBoundingClientRect();
    return Math.max(0, Math.min(1, (clientX - left) / width));
  };
  node.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    event.stopPropagation();
    node.setPointerCapture(event.pointerId);
    drag(shareOf(event), true);
  });
  node.addEventListener("pointermove", (event) => {
    if (node.hasPointerCapture(event.pointerId)) drag(shareOf(event), false);
  });
  node.addEventListener("pointerup", settled);
}

function tell(until, since, letter, { line, range, run, type }) {
  const { points, isFlow } = line;
  const at = points[range.until];
  const before = points[range.since]?.snapshot ?? null;
  const name = isFlow ? intervalName(run, before, at.snapshot) : momentName(run, at.snapshot);
  label(until, `${letter}: ${isFlow ? "until" : "snapshot"}`, {
    min: isFlow ? range.since + 2 : 1,
    max: points.length,
    now: range.until + 1,
    text: isFlow ? name : `${name}, ${formatValue(at.value, unitOf(type))}`,
  });
  label(since, `${letter}: since`, { min: 0, max: range.until, now: range.since + 1, text: name });
}

function label(node, words, { min, max, now, text }) {
  const attributes = { label: words, valuemin: min, valuemax: max, valuenow: now, valuetext: text };
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(`aria-${name}`, value);
}
