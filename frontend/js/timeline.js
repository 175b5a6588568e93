// Turns the snapshots of a run into a time line of one value type: points in time, paths to draw, words of each moment.
import { formatChange, formatClock, formatMoment, formatValue } from "./format.js";
import { recentChange, snapshotName, takenAt, unitOf } from "./run-view.js";

export const WIDTH = 1000; // of the picture, which is stretched to its place
export const HEIGHT = 100;
const MOST_DOTS = 250; // more would touch each other on most screens
const TICKS = 5;
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];

const lines = new WeakMap(); // by run, which never changes: news make another; then by value type

/** The same line for each call: a brush asks for it at every step. It is as lineOf makes it. */
export function timelineOf(run, type) {
  const known = lines.get(run) ?? new Map();
  if (!known.has(type)) known.set(type, lineOf(run, type));
  lines.set(run, known);
  return known.get(type);
}

/**
 * {points, from, to, isFlow, hasClock, low, high}; a point is {snapshot, at, value, change}. Of a level `value` is its total at that
 * moment, of a flow what happened since the point before; `at` is in seconds, or a number where the file does not tell when.
 */
function lineOf(run, type) {
  const snapshots = run.snapshots.filter(({ totals }) => totals?.[type.name] !== undefined);
  const isFlow = type.kind === "flow";
  const hasClock = tellsTime(snapshots);
  const moments = snapshots.map((snapshot, i) => (hasClock ? snapshot.elapsed_s : i + 1));
  const points = pointsOf(snapshots, moments, amountsOf(snapshots, type));
  const values = points.map(({ value }) => value);
  return {
    points,
    isFlow,
    hasClock,
    ...span(run, moments, { isFlow, hasClock }),
    low: values.reduce((least, value) => Math.min(least, value), 0),
    high: values.reduce((most, value) => Math.max(most, value), 0),
  };
}

/** The plotted value of each snapshot: of a flow what was added since the one before, unless each counts its own interval. */
export function amountsOf(snapshots, type) {
  const totals = snapshots.map(({ totals }) => totals[type.name]);
  if (type.kind !== "flow") return totals;
  return totals.map((total, i) => (i && !countsItself(snapshots[i]) ? total - totals[i - 1] : total));
}

const countsItself = ({ capture }) => capture?.interval_s !== undefined;

const tellsTime = (snapshots) =>
  snapshots.some(({ elapsed_s: at }) => at > 0) &&
  snapshots.every(({ elapsed_s: at }, i) => i === 0 || at >= snapshots[i - 1].elapsed_s);

const pointsOf = (snapshots, moments, values) =>
  snapshots.map((snapshot, i) => ({
    snapshot,
    at: moments[i],
    value: values[i],
    change: i ? values[i] - values[i - 1] : null,
  }));

/** The axis begins with the run where it is known when that was; while it records it reaches to where it will end. */
function span(run, moments, { isFlow, hasClock }) {
  const [first, last] = [moments[0] ?? 0, moments.at(-1) ?? 0];
  const isTimed = hasClock && run.duration_s > 0;
  const from = isTimed || (isFlow && !run.is_pushed) ? 0 : first;
  const to = isTimed ? Math.max(last, run.is_open ? run.duration_s : 0) : last;
  return to > from ? { from, to } : { from: from - 1, to: to + 1 };
}

/** Where a moment is on the axis, from 0 to 1. */
export const shareAt = ({ from, to }, at) => (at - from) / (to - from);

/** Index of the point nearest to a share of the axis; of a flow the one whose interval is there. -1 if there is none. */
export function pointAt({ points, from, to, isFlow }, share) {
  const at = from + share * (to - from);
  let [low, high] = [0, points.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle].at < at) low = middle + 1;
    else high = middle;
  }
  const isNearerBefore = !isFlow && low > 0 && at - points[low - 1].at < points[low]?.at - at;
  return isNearerBefore ? low - 1 : Math.min(low, points.length - 1);
}

/** One path for all values: a line of a level, boxes of a flow; and one of dots, empty where they would touch. */
export function pathsOf(line) {
  const x = (at) => (shareAt(line, at) * WIDTH).toFixed(2);
  const y = (value) => heightOf(line, value).toFixed(2);
  const { points } = line;
  if (line.isFlow)
    return { boxes: points.map((point, i) => box(line, point, points[i - 1], { x, y })).join(""), dots: "" };
  const corners = points.map(({ at, value }) => `${x(at)} ${y(value)}`);
  if (!corners.length) return { line: "", area: "", dots: "" };
  return {
    line: `M${corners.join("L")}`,
    area: `M${x(points[0].at)} ${y(0)}L${corners.join("L")}L${x(points.at(-1).at)} ${y(0)}Z`,
    dots: points.length <= MOST_DOTS ? corners.map((corner) => `M${corner}h0`).join("") : "",
  };
}

function box(line, { at, value }, before, { x, y }) {
  const since = before?.at ?? Math.min(line.from, at);
  return `M${x(since)} ${y(0)}V${y(value)}H${x(at)}V${y(0)}Z`;
}

/** Zero is always on the axis. */
export const heightOf = ({ low, high }, value) => HEIGHT * (1 - (value - low) / (high > low ? high - low : 1));

/** Moments to name below the axis: {share, text}. */
export function ticksOf(line, run) {
  const { from, to, hasClock } = line;
  const step = hasClock ? (STEPS.find((each) => (to - from) / each <= TICKS) ?? STEPS.at(-1)) : countStep(to - from);
  const first = Math.ceil(from / step) * step;
  const count = Math.max(0, Math.floor((to - first) / step) + 1);
  const moments = Array.from({ length: count }, (_, i) => first + i * step);
  const shown = hasClock ? moments : moments.filter((at) => at >= 1 && at <= line.points.length);
  return shown.map((at) => ({ share: shareAt(line, at), text: tickText(at, run, hasClock) }));
}

const countStep = (size) => Math.max(1, Math.ceil(size / TICKS));

function tickText(at, run, hasClock) {
  if (!hasClock) return `${at}`;
  return run.is_pushed ? formatClock(takenAt(run, { elapsed_s: at })).slice(0, 5) : formatMoment(at);
}

/** "20 s", "report of 12:03:05", the time of day where a service pushes. */
export const momentName = (run, snapshot) =>
  run.is_pushed ? formatClock(takenAt(run, snapshot)) : snapshotName(snapshot);

/** "10 s to 20 s"; from no snapshot it is "since the run began, until 20 s". */
export function intervalName(run, since, until) {
  if (!since) return `since the run began, until ${momentName(run, until)}`;
  return `${momentName(run, since)} to ${momentName(run, until)}`;
}

/** Name and facts of a point, as the tooltip takes them. */
export function pointWords({ points, isFlow }, i, run, type) {
  const { snapshot, value, change } = points[i];
  const unit = unitOf(type);
  const name = isFlow ? intervalName(run, points[i - 1]?.snapshot, snapshot) : momentName(run, snapshot);
  const facts = [[isFlow ? "amount" : "value", formatValue(value, unit), ""]];
  if (change !== null) facts.push(["change", change ? formatChange(change, unit) : "none", "since the one before"]);
  if (isFlow) facts.push(["so far", formatValue(snapshot.totals[type.name], unit), ""]);
  return { name, facts };
}

/** What is chosen in one sentence: the level then, or what happened in the interval. */
export function choiceWords(line, { since, seq }, run, type) {
  const until = line.points.findIndex(({ snapshot }) => snapshot.seq === seq);
  if (until < 0) return "";
  const { snapshot } = line.points[until];
  const from = line.isFlow ? line.points.findIndex((point) => point.snapshot.seq === since) : -1;
  if (from >= 0) {
    const amount = line.points.slice(from + 1, until + 1).reduce((sum, { value }) => sum + value, 0);
    return `${intervalName(run, line.points[from].snapshot, snapshot)}: ${formatValue(amount, unitOf(type))}`;
  }
  const recent = recentChange(run, snapshot, type.name);
  const grown = recent ? `, ${formatChange(recent.change, unitOf(type))} ${recent.words}` : "";
  return `${untilWords(line, run, snapshot)}: ${formatValue(snapshot.totals[type.name], unitOf(type))}${grown}`;
}

function untilWords({ isFlow }, run, snapshot) {
  if (run.is_pushed || !run.duration_s) return momentName(run, snapshot);
  return isFlow ? intervalName(run, null, snapshot) : `at ${momentName(run, snapshot)}`;
}

/** Where a second brush begins: the first moment of a level, the interval before of a flow; null where there is no other. */
export function secondChoice({ points, isFlow }, { since, seq }) {
  const seqs = points.map(({ snapshot }) => snapshot.seq);
  if (seqs.length < 2) return null;
  if (!isFlow) return { since: 0, seq: seqs[0] === seq ? seqs.at(-1) : seqs[0] };
  const [from, until] = [seqs.indexOf(since), seqs.indexOf(seq)];
  if (from < 0) return { since: 0, seq: seqs[until > 0 ? until - 1 : 1] };
  return { since: seqs[from - (until - from)] ?? 0, seq: since };
}
