// Says how complete a capture was, from what the snapshot tells of its own making: a word, figures, and notes to read.
import { formatCount, formatPercent, formatPlural } from "./format.js";

/** Above these shares a capture is weak or wrong; the same limits mark the banner above the graph. */
const WEAK_LOSS = 0;
const BAD_LOSS = 0.01;
const WEAK_UNRESOLVED = 0.1;

const CAUSES = {
  stack_map_full: "the stack map was full",
  allocation_map_full: "the allocation map was full",
  ring_buffer_full: "the ring buffer was full",
  failed_stack: "the kernel could not read the stack",
  perf_lost: "perf could not keep up with them",
  call_map_full: "more threads were inside a call than the map of calls holds",
};

/**
 * {level: "ok"|"weak"|"bad"|"unknown", words: [before, word], figures: [[label, number, rest]], notes: [sentence], banner: {title, text}|null}.
 * `run` has the events and losses while recording, which are newer than the snapshot's.
 */
export function captureQuality(snapshot, run = {}) {
  const capture = claimsOf(snapshot);
  const events = (run.isActive && run.events) || capture.events || run.events || 0;
  const lost = lostOf({ ...capture.lost, ...(run.isActive ? run.lost : {}) });
  const share = lost.count > 0 ? lost.count / (events + lost.count) : 0;
  const level = levelOf(capture, snapshot, share, events);
  return {
    level,
    words: wordsOf(level, run.isActive),
    figures: figuresOf(capture, snapshot, lost, events),
    notes: notesOf(capture, lost),
    banner: bannerOf(capture, lost, share, events),
  };
}

// An upload writes its own capture, so each claim is taken only where it has the right form.
function claimsOf(snapshot) {
  const claimed = isRecord(snapshot?.capture) ? snapshot.capture : {};
  const counts = ["events", "truncated_stacks", "broken_unwinds", "unresolved_frames", "frames"]
    .filter((key) => isCount(claimed[key]))
    .map((key) => [key, claimed[key]]);
  const words = ["collector", "allocator"]
    .filter((key) => typeof claimed[key] === "string")
    .map((key) => [key, claimed[key]]);
  return {
    ...Object.fromEntries([...counts, ...words]),
    ...(isRecord(claimed.lost) ? { lost: claimed.lost } : {}),
    ...(isRecord(claimed.filters) ? { filters: claimed.filters } : {}),
    notes: [claimed.notes ?? []].flat().filter((text) => typeof text === "string"),
    probes: [claimed.probes ?? []].flat().filter((probe) => typeof probe?.symbol === "string"),
  };
}

const isRecord = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const isCount = (value) => Number.isSafeInteger(value) && value >= 0;

/** Losses by cause as {count, causes: [[count, words]]}, largest first. */
export function lostOf(byCause = {}) {
  const causes = Object.entries(byCause)
    .filter(([, count]) => isCount(count) && count > 0)
    .sort((a, b) => b[1] - a[1]);
  return {
    count: causes.reduce((sum, [, count]) => sum + count, 0),
    causes: causes.map(([cause, count]) => [count, CAUSES[cause] ?? cause.replaceAll("_", " ")]),
  };
}

function levelOf(capture, snapshot, share, events) {
  if (share > BAD_LOSS) return "bad";
  if (share > WEAK_LOSS || unresolvedShare(capture) > WEAK_UNRESOLVED || snapshot?.skipped_lines > 0) return "weak";
  return events > 0 || capture.events !== undefined || capture.lost !== undefined ? "ok" : "unknown";
}

function wordsOf(level, isActive) {
  const words = { ok: "complete", weak: "weak", bad: "incomplete", unknown: "not known" };
  return [isActive ? "So far" : "Capture", words[level]];
}

const unresolvedShare = ({ unresolved_frames: unresolved = 0, frames = 0 }) => (frames > 0 ? unresolved / frames : 0);

function figuresOf(capture, snapshot, lost, events) {
  const figures = [];
  if (events > 0) figures.push(["lost", formatCount(lost.count), `of ${formatCount(events + lost.count)} events`]);
  if (capture.truncated_stacks !== undefined)
    figures.push(["truncated", formatCount(capture.truncated_stacks), "stacks"]);
  if (capture.broken_unwinds > 0) figures.push(["broken off", formatCount(capture.broken_unwinds), "stacks"]);
  if (capture.frames > 0) figures.push(["without a name", formatPercent(unresolvedShare(capture)), "of frames"]);
  if (capture.collector === "malloc") figures.push(["", "", `every allocation ${sizesOf(capture)}counted`]);
  if (!figures.length && snapshot) figures.push(["", "", "the file does not say what was lost"]);
  if (snapshot?.skipped_lines) figures.push(["skipped", formatCount(snapshot.skipped_lines), "lines"]);
  return figures;
}

const sizesOf = ({ filters = {} }) => (filters.min_size || "max_size" in filters ? "of the sizes asked for " : "");

function notesOf(capture, lost) {
  const notes = lost.causes.map(
    ([count, words]) => `${formatPlural(count, "event was", "events were")} lost: ${words}.`,
  );
  if (capture.allocator) notes.push(`The allocator is ${capture.allocator}.`);
  if (capture.probes.length)
    notes.push(
      `${formatPlural(capture.probes.length, "probe was", "probes were")} placed: ${capture.probes.map(({ symbol }) => symbol).join(", ")}.`,
    );
  return [...notes, ...capture.notes];
}

function bannerOf(capture, lost, share, events) {
  if (share > WEAK_LOSS) {
    const causes = lost.causes.map(([count, words]) => `${formatCount(count)} because ${words}`).join(", ");
    return {
      level: share > BAD_LOSS ? "bad" : "warn",
      title: `${formatPercent(share)} of events were lost: small paths may be wrong or missing`,
      text: `${formatCount(lost.count)} of ${formatCount(events + lost.count)} events: ${causes}.`,
    };
  }
  if (unresolvedShare(capture) <= WEAK_UNRESOLVED) return null;
  return {
    level: "warn",
    title: `${formatPercent(unresolvedShare(capture))} of frames have no function name`,
    text: "A library without symbols is shown by its file and address. The recording itself is complete.",
  };
}

/** The warning for a file with bad lines: title, text and up to 20 lines as they came. */
export function skippedLines(snapshot) {
  const count = snapshot?.skipped_lines ?? 0;
  if (count === 0) return null;
  const lines = (snapshot.skipped ?? []).map(([number, text, reason]) => ({ number, text, reason }));
  return {
    title: `${formatPlural(count, "line", "lines")} of the file could not be read and ${count === 1 ? "is" : "are"} not in the graph`,
    text: lines.length < count ? `The first ${lines.length} are shown.` : "",
    lines,
  };
}
