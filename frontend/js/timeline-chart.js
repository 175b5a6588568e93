// The time line under the graph: one picture of all snapshots, what is under the pointer, and the brushes that choose.
import { part, svgElement } from "./dom.js";
import { formatValue } from "./format.js";
import { bindTip } from "./graph-tip.js";
import { unitOf } from "./run-view.js";
import { bindBrush, bindDrag, nearestEdge } from "./timeline-brush.js";
import { HEIGHT, WIDTH, heightOf, pathsOf, pointAt, pointWords, shareAt, ticksOf, timelineOf } from "./timeline.js";

const [TOP, BOTTOM] = [18, 82]; // of the picture, in a chart of 100
const LABEL_Y = 97;

/**
 * Binds the box with its parts chart and moment. A choice is {since, seq}: a flow's interval after one snapshot until another, with
 * `since` 0 for the beginning. `choose(letter, choice, isSettled)` is called as a brush is moved.
 */
export function bindTimeline(box, choose) {
  const svg = part(box, "chart");
  const tip = bindTip(part(box, "moment"));
  const shown = { line: null, run: null, type: null, active: "A" };
  const brushes = Object.fromEntries(["A", "B"].map((letter) => [letter, bindBrush(box, letter, moved(letter))]));

  function moved(letter) {
    return ({ since, until }, isSettled) => {
      const { points } = shown.line;
      shown.active = letter;
      choose(letter, { since: points[since]?.snapshot.seq ?? 0, seq: points[until].snapshot.seq }, isSettled);
    };
  }

  let began = 0;
  let range = null;
  bindDrag(box, svg, drag, () => range && shown.line.isFlow && moved(shown.active)(range, true));

  /** Pulls a window over a flow; a click takes the one interval there, or the moment of a level. */
  function drag(share, isFirst) {
    const { line } = shown;
    if (!line?.points.length) return;
    if (isFirst) began = share;
    const until = pointAt(line, share);
    const edges = [began, share].map((each) => nearestEdge(line, each)).sort((a, b) => a - b);
    const isWindow = line.isFlow && edges[0] < edges[1];
    range = isWindow ? { since: edges[0], until: edges[1] } : { since: line.isFlow ? until - 1 : -1, until };
    moved(shown.active)(range, !line.isFlow);
  }

  svg.addEventListener("pointermove", ({ clientX }) => {
    const edge = svg.getBoundingClientRect();
    const i = shown.line ? pointAt(shown.line, (clientX - edge.left) / edge.width) : -1;
    if (i < 0) return;
    const { name, facts } = pointWords(shown.line, i, shown.run, shown.type);
    const mark = svg.querySelector(".mark");
    const x = `${100 * shareAt(shown.line, shown.line.points[i].at)}%`;
    for (const end of ["x1", "x2"]) mark.setAttribute(end, x);
    mark.classList.add("on");
    tip.show(name, facts, { x: clientX - edge.left, y: 0 }, edge);
  });
  svg.addEventListener("pointerleave", () => {
    svg.querySelector(".mark")?.classList.remove("on");
    tip.hide();
  });

  return {
    /** Draws the snapshots of a run that have a total of this type, with brush A and, unless it is null, B. */
    show(run, type, { a, b }) {
      const line = timelineOf(run, type);
      if (line !== shown.line) {
        svg.replaceChildren(...drawn(line, run, type));
        svg.setAttribute("aria-label", spoken(line, type));
      }
      Object.assign(shown, { line, run, type, active: b ? shown.active : "A" });
      brushes.A.show(line, rangeOf(line, a), run, type);
      brushes.B.show(line, b && rangeOf(line, b), run, type);
    },
  };
}

function rangeOf({ points }, { since, seq }) {
  const indexOf = (wanted) => points.findIndex(({ snapshot }) => snapshot.seq === wanted);
  const until = indexOf(seq);
  return until < 0 ? null : { since: indexOf(since), until };
}

function drawn(line, run, type) {
  if (!line.points.length) return [];
  const y = (value) => `${TOP + (heightOf(line, value) / HEIGHT) * (BOTTOM - TOP)}%`;
  const across = (kind, at) => svgElement("line", { class: kind, x1: 0, x2: "100%", y1: at, y2: at });
  return [
    across("grid", y(line.high)),
    svgElement("text", { x: 12, y: 11 }, formatValue(line.high, unitOf(type))),
    picture(pathsOf(line)),
    across("axis", y(0)),
    svgElement("line", { class: "mark", y1: `${TOP}%`, y2: `${BOTTOM}%` }),
    ...ticksOf(line, run).map(tick),
  ];
}

/** Stretched to its place; strokes and dots are not. */
function picture(paths) {
  const drawnPaths = Object.entries(paths)
    .filter(([, d]) => d)
    .map(([kind, d]) => svgElement("path", { class: kind, d, "vector-effect": "non-scaling-stroke" }));
  const frame = { y: `${TOP}%`, width: "100%", height: `${BOTTOM - TOP}%`, overflow: "visible" };
  return svgElement(
    "svg",
    { ...frame, viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" },
    drawnPaths,
  );
}

function tick({ share, text }) {
  const anchor = share < 0.05 ? "start" : share > 0.95 ? "end" : "middle";
  return svgElement("text", { x: `${100 * share}%`, y: `${LABEL_Y}%`, "text-anchor": anchor }, text);
}

function spoken({ points, isFlow }, type) {
  if (!points.length) return "No snapshot yet";
  const [first, last] = [points[0], points.at(-1)].map(({ value }) => formatValue(value, unitOf(type)));
  const what = isFlow ? "between snapshots" : "at each snapshot";
  return `${type.meaning} ${what}, ${points.length} of them, from ${first} to ${last}`;
}
