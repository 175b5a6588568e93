import assert from "node:assert/strict";
import test from "node:test";
import {
  defaultSnapshot,
  filled,
  headingOf,
  isOpen,
  mergeRun,
  momentOf,
  nextSnapshotS,
  isSmall,
  payloadUrls,
  recentChange,
  snapshotName,
  stateNote,
  valueTypeOf,
} from "../../frontend/js/run-view.js";

const plain = (text) => text.replaceAll("\u00a0", " ");
const type = { name: "outstanding_bytes", unit: "bytes", kind: "level" };
const snapshot = (seq, elapsed, total) => ({
  seq,
  elapsed_s: elapsed,
  totals: { outstanding_bytes: total },
  nodes: 5000,
  tags: { outstanding_bytes: [`1-a${seq}`, false] },
});
const run = (over = {}) => ({
  run: "r-1",
  state: "recording",
  host: "fra1",
  elapsed_s: 24,
  duration_s: 60,
  expected_snapshots: 6,
  value_types: [type],
  events: 10,
  lost: {},
  snapshots: [snapshot(1, 10, 100), snapshot(2, 20, 250)],
  payload_url: "/runs/r-1/payload/{seq}/{value_type}/{tag}/{stage}",
  ...over,
});

test("a message replaces fields and adds snapshots in order", () => {
  const merged = mergeRun(run(), {
    type: "run",
    state: "ingesting",
    elapsed_s: 31,
    snapshots: [snapshot(3, 30, 300), snapshot(2, 20, 260)],
    value_types: [],
  });

  assert.equal(merged.state, "ingesting");
  assert.deepEqual(
    merged.snapshots.map(({ seq, totals }) => [seq, totals.outstanding_bytes]),
    [
      [1, 100],
      [2, 260],
      [3, 300],
    ],
  );
  assert.deepEqual(merged.value_types, [type]);
});

test("the run's own choice is shown, else the newest", () => {
  assert.equal(defaultSnapshot(run()).seq, 2);
  assert.equal(defaultSnapshot(run({ shown_seq: 1 })).seq, 1);
  assert.equal(defaultSnapshot(run({ shown_seq: 9 })).seq, 2);
  assert.equal(defaultSnapshot(run({ snapshots: [] })), null);
});

test("a snapshot has the name that its file gives it, else its time, else its number", () => {
  assert.equal(snapshotName({ label: "report of 12:03:05", elapsed_s: 5, seq: 2 }), "report of 12:03:05");
  assert.equal(plain(snapshotName({ label: "", elapsed_s: 5, seq: 2 })), "5 s");
  assert.equal(snapshotName({ label: "", elapsed_s: 0, seq: 2 }), "snapshot 2");
});

test("the moment of an upload is what its file calls it", () => {
  const uploaded = run({ duration_s: 0 });

  assert.equal(momentOf(uploaded, { ...snapshot(1, 0, 1), label: "jeprof.7.0.f.heap" }, type), ", jeprof.7.0.f.heap");
  assert.equal(momentOf(uploaded, snapshot(1, 0, 1), type), "");
});

test("without times a change is told from the first snapshot on", () => {
  const timeless = run({ snapshots: [snapshot(1, 0, 100), snapshot(2, 0, 250)] });

  assert.deepEqual(recentChange(timeless, timeless.snapshots[1], "outstanding_bytes"), {
    change: 150,
    words: "since the first snapshot",
  });
});

test("addresses of payloads are escaped", () => {
  assert.equal(
    filled("/p/{seq}/{value_type}", { seq: 2, value_type: "syscalls:sys enter/mmap" }),
    "/p/2/syscalls%3Asys%20enter%2Fmmap",
  );
});

test("a payload has an address for its overview and one for all of it", () => {
  const view = run();

  assert.deepEqual(payloadUrls(view, view.snapshots[1], "outstanding_bytes"), {
    overview: "/runs/r-1/payload/2/outstanding_bytes/1-a2/overview",
    full: "/runs/r-1/payload/2/outstanding_bytes/1-a2/full",
    isSmall: true,
  });
});

test("all of a graph is asked for along with its overview unless that is all of it, or it is large", () => {
  assert.equal(isSmall(5000, false), true);
  assert.equal(isSmall(5000, true), false);
  assert.equal(isSmall(1_000_000, false), false);
});

test("a value type that is not there falls back to the first", () => {
  assert.equal(valueTypeOf(run(), "nothing"), type);
  assert.equal(valueTypeOf(run({ value_types: [] }), "x"), null);
});

test("a level is told at a moment, a flow since the run began", () => {
  assert.equal(momentOf(run(), snapshot(2, 20, 1), type), ", at 0:20 of 1:00");
  assert.equal(
    momentOf(run(), snapshot(2, 20, 1), { ...type, kind: "flow" }),
    ", since the run began, until 0:20 of 1:00",
  );
});

test("a run that a service pushes is told by the time of day", () => {
  const pushed = run({ is_pushed: true, duration_s: 0, started_at: "2026-11-29T12:03:00+00:00" });

  assert.equal(plain(momentOf(pushed, snapshot(2, 5, 1), type)), ", pushed at 12:03:05 UTC");
});

test("a run that is ready may be open for more pushes", () => {
  assert.equal(isOpen(run({ state: "ready", is_open: true })), true);
  assert.equal(isOpen(run({ state: "ready", is_open: false })), false);
});

test("the change is told with its interval", () => {
  const { change, words } = recentChange(run(), run().snapshots[1], "outstanding_bytes");

  assert.deepEqual([change, plain(words)], [150, "in the last 10 s"]);
  assert.equal(recentChange(run(), run().snapshots[0], "outstanding_bytes"), null);
});

test("the next snapshot is due while recording only", () => {
  assert.equal(nextSnapshotS(run()), 6);
  assert.equal(nextSnapshotS(run({ state: "ready" })), null);
});

test("each state has its words, and says what was kept", () => {
  assert.match(plain(stateNote(run({ state: "queued", agent_seen_s: 125 })).text), /last answered 2 min ago/);
  assert.match(
    plain(stateNote(run({ state: "failed", reason: "The agent was lost" })).text),
    /got to 0:24 of 1:00\. 2 snapshots that it sent are kept/,
  );
  assert.match(stateNote(run({ state: "cancelled", snapshots: [] })).text, /No snapshot arrived/);
  assert.match(plain(stateNote(run({ snapshots: [] })).text), /first of 6 snapshots is due after 0:10/);
  assert.equal(stateNote(run({ state: "ready", snapshots: [] })).title, "Nothing was recorded");
  assert.equal(
    stateNote(run({ state: "ready", snapshots: [{ seq: 1, tags: {}, error: "line 3 is 17 MB long" }] })).text,
    "line 3 is 17 MB long",
  );
  assert.equal(stateNote(run({ state: "ready" })), null);
  assert.deepEqual(stateNote(run({ state: "ready", reason: "Its budget is 10 %: it was ended after 7 s" })), {
    kind: "warn",
    icon: "i-warn",
    title: "The recording ended early",
    text: "Its budget is 10 %: it was ended after 7 s.",
  });
});

test("the key number is headed by what it counts, and by its age", () => {
  const types = ["outstanding_bytes", "allocated_bytes", "outstanding_bytes.lt10s"].map((name) => ({ ...type, name }));

  assert.deepEqual(
    types.map((each) => plain(headingOf(each, types))),
    ["Outstanding now", "Allocated bytes so far", "Outstanding bytes, under 10 s"],
  );
});
