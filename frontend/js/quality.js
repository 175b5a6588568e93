// Says how complete a capture was, from what the snapshot tells of its own making: a grade, figures, and notes to read.
// webapp/flamegraph/quality.py does the same for pages without script.
import { formatCount, formatPercent, formatPlural, formatValue } from "./format.js";
import { gradeOf, isCount, isRecord } from "./grade.js";
import { bannerOf, lostOf, notesOf } from "./quality-words.js";

const LEVELS = { A: "ok", B: "ok", C: "weak", D: "bad", "": "unknown" };
const WORDS = { A: "A, complete", B: "B, minor gaps", C: "C, weak", D: "D, not reliable", "": "not known" };

/**
 * {level: "ok"|"weak"|"bad"|"unknown", words: [before, word], figures: [[label, number, rest]], notes: [sentence],
 * banner: {level, title, text}|null}.
 * `run` has the events and losses while recording, which are newer than the snapshot's, and the unit of the first value type.
 */
export function captureQuality(snapshot, run = {}) {
  const claims = { ...claimsOf(snapshot), ...(run.isActive ? newestOf(run, snapshot) : {}) };
  const { grade, findings } = gradeOf(claims, snapshot?.skipped_lines);
  return {
    level: LEVELS[grade],
    words: [run.isActive ? "So far" : "Capture", WORDS[grade]],
    figures: figuresOf(claims, snapshot),
    notes: notesOf(claims, run.value_types?.[0]?.unit ?? ""),
    banner: bannerOf(findings, claims),
  };
}

const newestOf = (run, snapshot) => ({
  ...(run.events ? { events: run.events } : {}),
  lost: countsOf({ ...claimsOf(snapshot).lost, ...run.lost }),
});

// An upload writes its own capture, so each claim is taken only where it has the right form.
function claimsOf(snapshot) {
  const claimed = isRecord(snapshot?.capture) ? snapshot.capture : {};
  const claims = {
    notes: [claimed.notes ?? []].flat().filter((text) => typeof text === "string"),
    allocators: [claimed.allocators ?? []].flat().filter((module) => typeof module === "string"),
    probes: [claimed.probes ?? []].flat().filter((probe) => typeof probe?.symbol === "string"),
  };
  for (const [key, of] of Object.entries(FORMS)) {
    const taken = of(claimed[key]);
    if (taken !== undefined) claims[key] = taken;
  }
  claims.modules = Object.keys(claims.unresolved_by_module ?? {}).filter((module) => module !== "[unknown]");
  return claims;
}

const count = (value) => (isCount(value) ? value : undefined);
const word = (value) => (typeof value === "string" ? value : undefined);
const entriesOf = (is) => (value) =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).filter(([, each]) => is(each))) : undefined;
const isAmount = (value) => typeof value === "number" && Number.isFinite(value) && value > 0;
const isNumber = (value) => typeof value === "number" && Number.isFinite(value) && value >= 0;
const countsOf = entriesOf((value) => isCount(value) && value > 0);
const overheadOf = (value) =>
  isRecord(value)
    ? {
        ...entriesOf(isNumber)(value),
        is_measured: value.is_measured === true,
        trap_ns: entriesOf(isAmount)(value.trap_ns) ?? {},
      }
    : undefined;

const FORMS = {
  collector: word,
  allocator: word,
  mode: word,
  mode_reason: word,
  unwind: word,
  unwind_reason: word,
  sample_bytes: count,
  events: count,
  truncated_stacks: count,
  broken_unwinds: count,
  unresolved_frames: count,
  frames: count,
  unknown_frees: count,
  lost: countsOf,
  failed_stacks: countsOf,
  unresolved_by_module: entriesOf(isAmount),
  shares: entriesOf(isNumber),
  overhead: overheadOf,
  filters: (value) => (isRecord(value) ? value : undefined),
};

/** [label, number, rest] of the strip. */
function figuresOf(claims, snapshot) {
  const figures = [];
  const lost = lostOf(claims.lost).count;
  if (claims.events !== undefined)
    figures.push(["lost", formatCount(lost), `of ${formatCount(claims.events + lost)} events`]);
  if (claims.shares?.without_stack > 0)
    figures.push(["without a stack", formatPercent(claims.shares.without_stack), "of the value"]);
  if (claims.truncated_stacks !== undefined)
    figures.push(["truncated", formatCount(claims.truncated_stacks), "stacks"]);
  if (claims.broken_unwinds > 0) figures.push(["broken off", formatCount(claims.broken_unwinds), "stacks"]);
  figures.push(...namelessFigure(claims));
  if (claims.overhead?.share !== undefined)
    figures.push(["overhead", formatPercent(claims.overhead.share), "of one core"]);
  if (claims.collector === "malloc") figures.push(["", "", countedWords(claims)]);
  if (!figures.length && snapshot) figures.push(["", "", "the file does not say what was lost"]);
  if (snapshot?.skipped_lines) figures.push(["skipped", formatCount(snapshot.skipped_lines), "lines"]);
  return figures;
}

function namelessFigure({ shares = {}, frames, unresolved_frames: unresolved = 0 }) {
  if (shares.unresolved !== undefined) return [["without a name", formatPercent(shares.unresolved), "of the graph"]];
  return frames > 0 ? [["without a name", formatPercent(unresolved / frames), "of frames"]] : [];
}

function countedWords(claims) {
  if (claims.mode === "sampled" && claims.sample_bytes)
    return `sampled: one block ${sizesOf(claims)}for each ${formatValue(claims.sample_bytes, "bytes")}`;
  return claims.mode === "calls" ? "calls only, frees are not seen" : `every allocation ${sizesOf(claims)}counted`;
}

const sizesOf = ({ filters = {} }) => (filters.min_size || "max_size" in filters ? "of the sizes asked for " : "");

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
