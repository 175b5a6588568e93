// Reads what the site says of a run: which snapshot and payload to show, and the words of the page for its state.
import { titleAmong } from "./age-bands.js";
import { formatClock, formatDuration, formatMoment, formatPlural, titleOf } from "./format.js";
import { formatAge } from "./time-ago.js";

export const ACTIVE_STATES = ["queued", "claimed", "recording", "ingesting"];
const WITH_AGENT = ["claimed", "recording"];

export const isActive = (run) => ACTIVE_STATES.includes(run.state);
/** More snapshots may come: it records, or a service goes on pushing. */
export const isOpen = (run) => run.is_open ?? isActive(run);
export const isTracing = (run) => WITH_AGENT.includes(run.state);

/** The run after a message of its socket: fields replace, snapshots replace by number and stay in order. */
export function mergeRun(run, message) {
  const { type, snapshots = [], ...fields } = message;
  const bySeq = new Map(run.snapshots.map((snapshot) => [snapshot.seq, snapshot]));
  for (const snapshot of snapshots) bySeq.set(snapshot.seq, snapshot);
  const known = fields.value_types?.length ? fields : { ...fields, value_types: run.value_types };
  return { ...run, ...known, snapshots: [...bySeq.values()].sort((a, b) => a.seq - b.seq) };
}

/** Snapshots that can be drawn. */
export const drawable = (run) => run.snapshots.filter(({ tags }) => tags && Object.keys(tags).length > 0);

/** The snapshot that is shown unless another is asked for: the run's own choice (a file's peak), else the newest. */
export function defaultSnapshot(run) {
  const snapshots = drawable(run);
  return snapshots.find(({ seq }) => seq === run.shown_seq) ?? snapshots.at(-1) ?? null;
}

/** "report of 12:03:05", "20 s", "snapshot 3": what its file calls it, else its time, else its number. */
export const snapshotName = ({ label, elapsed_s: elapsed, seq }, clock = formatMoment) =>
  label || (elapsed ? clock(elapsed) : `snapshot ${seq}`);

export const snapshotAt = (run, seq) => run.snapshots.find((snapshot) => snapshot.seq === seq) ?? null;

/** The value type to show: the one asked for, or the first. */
export function valueTypeOf(run, name) {
  return run.value_types.find((type) => type.name === name) ?? run.value_types[0] ?? null;
}

/** Addresses of a snapshot's payload: {overview, full}. */
export function payloadUrls(run, snapshot, typeName) {
  const fill = (stage) =>
    filled(run.payload_url, { seq: snapshot.seq, value_type: typeName, tag: snapshot.tags[typeName][0], stage });
  const [, isWhole] = snapshot.tags[typeName];
  return { overview: fill("overview"), full: fill("full"), isSmall: isSmall(snapshot.nodes, isWhole) };
}

// Nodes that take about half a megabyte: asked for along with their overview, they hold it up little.
const SMALL_UP_TO = 150_000; // webapp/flamegraph/views.py preloads what is asked for here

/** Whether all of a payload is asked for along with its overview, unless that is all of it. */
export const isSmall = (nodes, isWhole) => !isWhole && nodes <= SMALL_UP_TO;

export function filled(template, values) {
  return template.replace(/\{(\w+)\}/g, (_, key) => encodeURIComponent(values[key]));
}

/** When a snapshot of a run that a service pushes was taken, in milliseconds. */
export const takenAt = (run, snapshot) => Date.parse(run.started_at) + 1000 * snapshot.elapsed_s;

/** "at 3:24 of 10:00", or "since the run began, until 3:24" of a flow; the time of day where services push. */
export function momentOf(run, snapshot, type) {
  if (run.is_pushed) return `, pushed at ${formatClock(takenAt(run, snapshot))}`;
  if (!run.duration_s) return snapshot.label ? `, ${snapshot.label}` : "";
  const until = `${formatDuration(snapshot.elapsed_s)} of ${formatDuration(run.duration_s)}`;
  return type.kind === "level" ? `, at ${until}` : `, since the run began, until ${until}`;
}

/** The unit to write behind numbers: none where a tool gave no other than the name, which stands above the graph. */
export const unitOf = (type) => (type.unit === type.name ? "" : type.unit);

/** The sentences after the meaning of a value type: how its graph is read. */
export function readingOf(type, { is_pushed: isPushed } = {}) {
  const flow = isPushed ? "A flow: it happened, and may be given back." : "A flow: it happened during the run.";
  const kind = type.kind === "level" ? "A level: never added up over time." : flow;
  if (type.is_signed) return `${kind} A frame is as wide as the amounts below it; less than zero is hatched.`;
  const what = type.kind === "level" ? `${unitOf(type)} held by it` : `${unitOf(type) || "amount"} of it`;
  return `${kind} A frame is as wide as the ${what} and everything it called.`;
}

/** Change of a total against the snapshot about a minute before: {change, words}, null with one snapshot. */
export function recentChange(run, snapshot, typeName) {
  const earlier = run.snapshots.filter((other) => other.seq < snapshot.seq && other.totals?.[typeName] !== undefined);
  if (!earlier.length) return null;
  const before = earlier.filter((other) => snapshot.elapsed_s - other.elapsed_s >= 59).at(-1) ?? earlier[0];
  const seconds = Math.round(snapshot.elapsed_s - before.elapsed_s);
  const change = snapshot.totals[typeName] - before.totals[typeName];
  if (!seconds) return { change, words: "since the first snapshot" };
  return { change, words: seconds >= 59 && seconds <= 61 ? "in the last minute" : `in the last ${seconds}\u00a0s` };
}

/** "Outstanding now" and the like, for the key number of a value type among those of its run. */
export function headingOf(type, types) {
  const title = titleAmong(type, types);
  if (title !== titleOf(type.name)) return title;
  return type.name.startsWith("outstanding") ? "Outstanding now" : `${title} so far`;
}

/** Words for a state: {kind of note, icon, title, text}; null where the graph speaks for itself. */
export function stateNote(run) {
  const kept = drawable(run).length;
  const keptWords = kept
    ? `${formatPlural(kept, "snapshot that it sent is", "snapshots that it sent are")} kept and can be read.`
    : "No snapshot arrived.";
  const notes = {
    queued: { kind: "", icon: "i-wait", title: `Waiting for ${run.host || "the host"}`, text: waitingText(run) },
    claimed: {
      kind: "",
      icon: "i-wait",
      title: "The agent is attaching",
      text: "It places its probes and looks up symbols; the first events follow in a moment.",
    },
    failed: {
      kind: "bad",
      icon: "i-fail",
      title: run.reason || "The run failed",
      text: `It got to ${progressWords(run)}. ${keptWords}`,
    },
    cancelled: {
      kind: "",
      icon: "i-x",
      title: "Cancelled",
      text: `${run.reason ? `${sentence(run.reason)} ` : ""}It got to ${progressWords(run)}. ${keptWords}`,
    },
  };
  return notes[run.state] ?? emptyNote(run, kept);
}

function waitingText({ agent_seen_s: seen }) {
  const heard = typeof seen === "number" ? `The host last answered ${formatAge(seen)}. ` : "";
  return `${heard}The run starts as soon as it asks for work.`;
}

const progressWords = (run) =>
  run.duration_s
    ? `${formatDuration(run.elapsed_s)} of ${formatDuration(run.duration_s)}`
    : formatDuration(run.elapsed_s);

function emptyNote(run, kept) {
  const unread = run.snapshots.find(({ error }) => error);
  if (unread)
    return { kind: "bad", icon: "i-fail", title: `Snapshot ${unread.seq} could not be read`, text: unread.error };
  // It ended before its time: by its budget, with its agent, or without all its snapshots.
  if (run.state === "ready" && run.reason)
    return { kind: "warn", icon: "i-warn", title: "The recording ended early", text: sentence(run.reason) };
  if (kept) return null;
  if (run.state === "recording") return { kind: "", icon: "i-wait", title: "Recording", text: firstSnapshotText(run) };
  if (run.state === "ingesting")
    return {
      kind: "",
      icon: "i-wait",
      title: "Reading what arrived",
      text: "The call tree is being built; the graph appears by itself.",
    };
  return {
    kind: "warn",
    icon: "i-info",
    title: "Nothing was recorded",
    text: "The run ended without a snapshot that holds a stack.",
  };
}

function firstSnapshotText(run) {
  const every = run.duration_s / Math.max(1, run.expected_snapshots || 1);
  return `The first of ${formatPlural(run.expected_snapshots || 1, "snapshot", "snapshots")} is due after ${formatDuration(every)}; the graph grows with each.`;
}

/** Seconds until the next snapshot is due, null when none is. */
export function nextSnapshotS(run) {
  if (run.state !== "recording" || !run.expected_snapshots) return null;
  const every = run.duration_s / run.expected_snapshots;
  const due = (run.snapshots.length + 1) * every - run.elapsed_s;
  return run.snapshots.length < run.expected_snapshots && due > 0 ? due : null;
}

// Reasons come as sentences and as words.
const sentence = (words) => (/[.!?]$/.test(words) ? words : `${words}.`);
