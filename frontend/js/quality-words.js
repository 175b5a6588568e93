// What is wrong with a capture, and how it was made, in sentences: the banner above a graph and the details below it.
// webapp/flamegraph/quality.py writes the same without script; tests/view/quality.json holds both to one text.
import { NBSP, formatCount, formatPercent, formatPlural, formatValue } from "./format.js";
import { isCount } from "./grade.js";

const CAUSES = {
  stack_map_full: "the stack map was full",
  allocation_map_full: "the allocation map was full",
  ring_buffer_full: "the ring buffer was full",
  failed_stack: "the kernel could not read the stack",
  perf_lost: "perf could not keep up with them",
  call_map_full: "more threads were inside a call than the map of calls holds",
  missed: "the kernel was busy with another program on that processor",
};

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

/** {level, title, text} of what makes a capture weak or worse; null if nothing does. Skipped lines have their own. */
export function bannerOf(findings, claims) {
  const [worst, ...others] = findings.filter(({ grade, cause }) => grade >= "C" && cause in BANNERS);
  if (!worst) return null;
  const [title, text] = bannerWords(worst, claims);
  const also = others.map((finding) => bannerWords(finding, claims)[0]).join("; ");
  return {
    level: worst.grade === "D" ? "bad" : "warn",
    title: worst.grade === "D" ? `Do not rely on it: ${title}` : upper(title),
    text: also ? `${text} Also: ${also}.` : text,
  };
}

const bannerWords = ({ cause, share }, claims) => BANNERS[cause](formatPercent(share), claims);

const STACKS_FULL =
  "There were more different stacks than the map holds: record again with more, by “Stacks to keep” or --max-stacks.";
const STACKS_FAILED = "The kernel could not read the stacks.";
const NAMED_MODULES = 3;

const BANNERS = {
  lost: (percent, { events = 0, lost }) => {
    const { count, causes } = lostOf(lost);
    const words = causes.map(([each, why]) => `${formatCount(each)} because ${why}`).join(", ");
    return [
      `${percent} of events were lost, small paths may be wrong or missing`,
      `${formatCount(count)} of ${formatCount(events + count)} events: ${words}.`,
    ];
  },
  without_stack: (percent, { lost }) => [
    `${percent} of the value has no stack`,
    `It stands under [stack not recorded], totals are true. ${lost?.stack_map_full ? STACKS_FULL : STACKS_FAILED}`,
  ],
  unresolved: (percent, { modules }) => [
    `${percent} of the graph has no function name`,
    modules.length
      ? `Code without symbols stands by its file and address: ${modules.slice(0, NAMED_MODULES).join(", ")}. The values are complete; debug symbols of these files give the names.`
      : "Not even the file of that code is known. The values are complete.",
  ],
  broken: (percent) => [
    `${percent} of the value lacks callers`,
    "Unwinding broke off before the root, mostly in code without frame pointers. The frames that are there are right.",
  ],
  truncated: (percent) => [
    `${percent} of the value is in stacks that were cut at the root`,
    "They had more frames than are captured. The innermost frames are there, and right.",
  ],
  no_events: (_, { allocator }) => [
    `no event came from ${allocator || "the allocator"}`,
    "None of the functions that have probes was called. The program may have been idle, or take its memory by mmap, or from an allocator that was not found.",
  ],
};

/** Sentences on how the capture was made, of its checked claims. */
export function notesOf(claims, unit) {
  return [
    ...lostOf(claims.lost).causes.map(
      ([count, words]) => `${formatPlural(count, "event was", "events were")} lost: ${words}.`,
    ),
    ...failedWords(claims),
    ...unknownFreesWords(claims),
    ...moduleWords(claims, unit),
    ...overheadWords(claims),
    ...(claims.mode_reason ? [claims.mode_reason] : []),
    ...unwindWords(claims),
    ...allocatorWords(claims),
    ...probeWords(claims),
    ...claims.notes,
  ];
}

function failedWords({ failed_stacks: failed = {} }) {
  const errors = Object.entries(failed).map(([error, count]) => `${error} ${formatPlural(count, "time", "times")}`);
  return errors.length ? [`Stacks that the kernel could not read: ${errors.join(", ")}.`] : [];
}

function unknownFreesWords({ unknown_frees: count = 0 }) {
  if (!count) return [];
  return [
    `${formatPlural(count, "free was of a block", "frees were of blocks")} from before the recording, or given back by the C library itself.`,
  ];
}

function moduleWords({ unresolved_by_module: values = {} }, unit) {
  const words = Object.entries(values).map(([module, value]) => `${module} (${formatValue(value, unit)})`);
  return words.length ? [`Passes through code without function names: ${words.join(", ")}.`] : [];
}

function overheadWords({ overhead }) {
  if (overhead?.share === undefined) return [];
  const { share, peak_share: peak = share, own_share: own, budget, trap_ns: traps = {} } = overhead;
  const bounds = budget ? `its budget is ${formatPercent(budget)}` : "it had no budget";
  const prices = Object.entries(traps).map(([kind, ns]) => `${kind} ${(ns / 1000).toFixed(1)}${NBSP}µs`);
  return [
    `Recording took ${formatPercent(share)} of one core, ${formatPercent(peak)} at most over 5${NBSP}s; ${bounds}.`,
    ...(own === undefined ? [] : [`The recording process itself took ${formatPercent(own)} of one core.`]),
    ...(prices.length
      ? [`A hit of a probe was ${overhead.is_measured ? "measured" : "assumed"} to cost: ${prices.join(", ")}.`]
      : []),
  ];
}

const UNWINDS = { fp: "frame pointers", dwarf: "the unwind tables of the mapped files" };

function unwindWords({ unwind, unwind_reason: reason }) {
  return [...(unwind in UNWINDS ? [`Stacks were found by ${UNWINDS[unwind]}.`] : []), ...(reason ? [reason] : [])];
}

function allocatorWords({ allocator, allocators }) {
  if (!allocator) return [];
  const others = allocators.filter((module) => module !== allocator);
  return [`The allocator is ${allocator}${others.length ? `; there is one in ${others.join(", ")} too` : ""}.`];
}

function probeWords({ probes }) {
  if (!probes.length) return [];
  const symbols = probes.map(({ symbol }) => symbol).join(", ");
  return [`${formatPlural(probes.length, "probe was", "probes were")} placed: ${symbols}.`];
}

const upper = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);
