// A run's snapshots as bars of one value type, with a slider below: which of them the graph shows.
import { scaleLinear } from "../vendor/d3.js";
import { svgElement } from "./dom.js";
import { formatChange, formatClock, formatMoment, formatValue } from "./format.js";
import { recentChange, snapshotName, takenAt, unitOf } from "./run-view.js";

const MAX_BARS = 120; // more would be narrower than a few pixels, and cost a node each
const [TOP, BOTTOM] = [10, 56];
const LABELS = 6;

/** Binds the parts svg, slider and summary; `choose(seq)` is called when another snapshot is picked. */
export function bindSnapshots({ svg, slider, summary }, choose) {
  let bars = [];

  svg.addEventListener("click", (event) => {
    const edge = svg.getBoundingClientRect();
    const bar = bars[Math.floor(((event.clientX - edge.left) / edge.width) * slotsOf(bars))];
    if (bar) choose(bar.seq);
  });
  slider.addEventListener("input", () => choose(Number(slider.value)));

  return {
    /** Draws the snapshots of a run that have a total of this type. */
    show(run, type, seq) {
      const snapshots = run.snapshots.filter(({ totals }) => totals?.[type.name] !== undefined);
      bars = thinned(snapshots, run);
      svg.replaceChildren(...drawn(bars, type, seq));
      svg.setAttribute("aria-label", spoken(snapshots, type));
      setSlider(slider, snapshots, seq);
      summary.textContent = summaryOf(
        run,
        snapshots.find((snapshot) => snapshot.seq === seq),
        type,
      );
    },
  };
}

const slotsOf = (bars) => Math.max(bars.length, bars.expected ?? 0, 1);

function thinned(snapshots, run) {
  const every = Math.ceil(snapshots.length / MAX_BARS);
  const bars = snapshots.filter((_, i) => (snapshots.length - 1 - i) % every === 0);
  bars.expected = every === 1 ? Math.min(run.expected_snapshots || 0, MAX_BARS) : 0;
  return bars;
}

function drawn(bars, type, seq) {
  if (!bars.length) return [];
  const totals = bars.map(({ totals }) => totals[type.name]);
  const [low, high] = [Math.min(0, ...totals), Math.max(0, ...totals)];
  const y = scaleLinear()
    .domain([low, high === low ? low + 1 : high])
    .range([BOTTOM, TOP]);
  const slots = slotsOf(bars);
  return [
    svgElement("line", { class: "grid", x1: 0, x2: "100%", y1: TOP, y2: TOP }),
    svgElement("text", { x: 0, y: TOP - 2 }, formatValue(high, unitOf(type))),
    svgElement("line", { class: "axis", x1: 0, x2: "100%", y1: y(0), y2: y(0) }),
    ...bars.map((bar, i) => rectangle(bar, i, slots, y, type, seq)),
    ...labels(bars, slots),
  ];
}

function rectangle({ seq, totals }, i, slots, y, type, chosen) {
  const [from, to] = [y(Math.max(0, totals[type.name])), y(Math.min(0, totals[type.name]))];
  const gap = slots > 60 ? 0 : 0.08;
  return svgElement("rect", {
    class: seq === chosen ? "bar sel" : "bar",
    x: `${((i + gap / 2) / slots) * 100}%`,
    width: `${((1 - gap) / slots) * 100}%`,
    y: from,
    height: Math.max(0.5, to - from),
  });
}

function labels(bars, slots) {
  const hasClock = bars.some((bar) => bar.elapsed_s > 0); // or the file does not tell when
  const every = Math.ceil(bars.length / LABELS);
  const isLabelled = (i) => (bars.length - 1 - i) % every === 0;
  return bars.flatMap((bar, i) =>
    isLabelled(i)
      ? [
          svgElement(
            "text",
            { x: `${((i + 0.5) / slots) * 100}%`, y: 70, "text-anchor": anchorOf(i, slots) },
            hasClock ? formatMoment(bar.elapsed_s) : `${bar.seq}`,
          ),
        ]
      : [],
  );
}

const anchorOf = (i, slots) => (slots > 12 && i === 0 ? "start" : slots > 12 && i === slots - 1 ? "end" : "middle");

function setSlider(slider, snapshots, seq) {
  slider.disabled = snapshots.length < 2;
  slider.min = snapshots[0]?.seq ?? 1;
  slider.max = snapshots.at(-1)?.seq ?? 1;
  slider.value = seq;
  const at = snapshots.find((snapshot) => snapshot.seq === seq);
  slider.setAttribute("aria-valuetext", at ? snapshotName(at) : "");
}

function summaryOf(run, snapshot, type) {
  if (!snapshot) return "";
  const recent = recentChange(run, snapshot, type.name);
  if (run.is_pushed) return `${formatClock(takenAt(run, snapshot))}: ${amountWords(snapshot, recent, type)}`;
  const moment = run.duration_s
    ? `${type.kind === "level" ? "at" : "since the run began, until"} ${formatMoment(snapshot.elapsed_s)}: `
    : `${snapshotName(snapshot)}: `;
  return `${moment}${amountWords(snapshot, recent, type)}`;
}

function amountWords(snapshot, recent, type) {
  const grown = recent ? `, ${formatChange(recent.change, unitOf(type))} ${recent.words}` : "";
  return `${formatValue(snapshot.totals[type.name], unitOf(type))}${grown}`;
}

function spoken(snapshots, type) {
  if (!snapshots.length) return "No snapshot yet";
  const [first, last] = [snapshots[0], snapshots.at(-1)];
  return `${type.meaning} at each of ${snapshots.length} snapshots, from ${formatValue(first.totals[type.name], unitOf(type))} to ${formatValue(last.totals[type.name], unitOf(type))}`;
}
