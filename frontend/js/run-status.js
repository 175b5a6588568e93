// The top of a run page: state and key numbers while it records, its words when it waits or failed, and what can be done.
import { element, icon, note, part, setText } from "./dom.js";
import { formatChange, formatCount, formatDuration, formatPlural, formatValue } from "./format.js";
import { headingOf, isActive, nextSnapshotS, recentChange, stateNote, takenAt, unitOf } from "./run-view.js";
import { lostOf } from "./quality-words.js";
import { formatAge } from "./time-ago.js";

const GLYPHS = {
  queued: "i-wait",
  claimed: "i-wait",
  ingesting: "i-wait",
  ready: "i-ok",
  failed: "i-fail",
  cancelled: "i-x",
};

/** Rates of events need two readings; this keeps the last few seconds of them. */
export function eventRate() {
  const readings = [];
  return ({ events, elapsed_s: elapsed }) => {
    if (readings.at(-1)?.elapsed !== elapsed) readings.push({ events, elapsed });
    while (readings.length > 2 && elapsed - readings[0].elapsed > 5) readings.shift();
    const [first] = readings;
    return readings.length > 1 && elapsed > first.elapsed
      ? Math.max(0, (events - first.events) / (elapsed - first.elapsed))
      : null;
  };
}

/** Fills the parts of the page that tell the state of `run`; `latest` is its newest snapshot that can be drawn. */
export function showStatus(root, run, { latest, type, rate, heardS }) {
  for (const node of root.querySelectorAll("[data-when]"))
    node.hidden = (node.dataset.when === "active") !== isActive(run);
  showProgress(root, run);
  showNumbers(root, run, latest, type, rate);
  showNote(root, run);
  setText(part(root, "next-due"), dueWords(run));
  setText(part(root, "heard"), isActive(run) && heardS !== null ? `The agent answered ${formatAge(heardS)}` : "");
  for (const button of root.querySelectorAll("[data-stop]")) {
    button.disabled = run.stop_requested !== "";
    button.hidden = button.value === "stop" && run.state !== "recording";
  }
}

/** The line of a run that a service pushes; the page came with it as it was then. */
export function showPushes(root, run, latest) {
  const age = formatAge((Date.now() - takenAt(run, latest)) / 1000);
  setText(part(root, "last-push"), age);
  setText(part(root, "pushes"), formatPlural(run.snapshots.length, "snapshot", "snapshots"));
}

function showProgress(root, run) {
  const bar = part(root, "progress");
  bar.max = run.duration_s || 1;
  if (run.state === "queued" || run.state === "claimed" || run.state === "ingesting") bar.removeAttribute("value");
  else bar.value = Math.min(run.elapsed_s, bar.max);
}

function showNumbers(root, run, latest, type, rate) {
  part(root, "run-state").replaceChildren(statusOf(run));
  fill(root, "elapsed", formatDuration(run.elapsed_s), run.duration_s ? `of ${formatDuration(run.duration_s)}` : "");
  fill(root, "events", formatCount(run.events), rate === null ? "" : `${formatCount(Math.round(rate))}/s`);
  const lost = lostOf(run.lost);
  fill(root, "lost", formatCount(lost.count), lost.causes[0]?.[1] ?? "");
  part(root, "lost").classList.toggle("bad", lost.count > 0);
  showNow(root, run, latest, type);
}

function showNow(root, run, latest, type) {
  const total = latest && type ? latest.totals[type.name] : null;
  setText(part(root, "now-label"), type ? headingOf(type, run.value_types) : "Value now");
  if (total === null || total === undefined) return fill(root, "now", "–", "");
  const recent = recentChange(run, latest, type.name);
  fill(
    root,
    "now",
    formatValue(total, unitOf(type)),
    recent ? `${formatChange(recent.change, unitOf(type))} ${recent.words}` : "",
    recent && recent.change > 0 ? "grew" : "",
  );
}

function fill(root, name, number, rest, kind = "") {
  part(root, name).replaceChildren(number, ...(rest ? [" ", element("small", kind ? { class: kind } : {}, rest)] : []));
}

function statusOf({ state, stop_requested: stop }) {
  const word = stop === "stop" && state === "recording" ? "stopping" : state;
  if (state === "recording") return element("span", { class: "st live" }, element("span", { class: "dot" }), word);
  return element("span", { class: state === "failed" ? "st failed" : "st" }, icon(GLYPHS[state] ?? "i-wait"), word);
}

function showNote(root, run) {
  const words = stateNote(run);
  const place = part(root, "state-note");
  const key = words ? `${words.title} ${words.text}` : "";
  if (place.dataset.shown === key) return;
  place.dataset.shown = key;
  const actions = part(root, "state-actions")?.content.cloneNode(true);
  place.replaceChildren(
    ...(words
      ? [
          note(
            words.kind,
            words.icon,
            words.title,
            words.text,
            ["failed", "cancelled"].includes(run.state) && actions ? actions : null,
          ),
        ]
      : []),
  );
}

function dueWords(run) {
  const due = nextSnapshotS(run);
  if (run.state !== "recording") return "";
  return due === null
    ? " The graph grows with each snapshot."
    : ` The graph grows with each snapshot; the next one is due in ${formatDuration(due)}.`;
}
