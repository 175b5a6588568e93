import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import {
  amountsOf,
  intervalName,
  pathsOf,
  pointAt,
  pointWords,
  ticksOf,
  timelineOf,
} from "../../frontend/js/timeline.js";

const FLOW = { name: "allocated_bytes", unit: "bytes", kind: "flow" };
const LEVEL = { name: "outstanding_bytes", unit: "bytes", kind: "level" };

function run(moments, over = {}) {
  const snapshots = moments.map(([elapsed_s, value], i) => ({
    seq: i + 1,
    elapsed_s,
    label: "",
    totals: { [FLOW.name]: value, [LEVEL.name]: value },
    capture: {},
  }));
  return { snapshots, duration_s: 0, is_pushed: false, is_open: false, ...over };
}

// tests/view/intervals.json holds the numbers that Python makes the trees of intervals for.
test("the amounts of a flow are the totals of the intervals that Python makes", () => {
  const fixture = JSON.parse(readFileSync(new URL("../view/intervals.json", import.meta.url), "utf8"));
  const total = (folded) =>
    folded
      .trim()
      .split("\n")
      .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
  const snapshots = fixture.snapshots.map(({ folded, ...rest }) => ({
    ...rest,
    totals: { [FLOW.name]: total(folded) },
  }));

  assert.deepEqual(
    amountsOf(snapshots, FLOW),
    fixture.amounts.map(({ amount }) => amount),
  );
});

test("a level is plotted as its totals", () => {
  const line = timelineOf(
    run([
      [10, 5],
      [20, 8],
      [30, 2],
    ]),
    LEVEL,
  );

  assert.deepEqual(
    line.points.map(({ value, change }) => [value, change]),
    [
      [5, null],
      [8, 3],
      [2, -6],
    ],
  );
  assert.deepEqual([line.from, line.to, line.low, line.high], [10, 30, 0, 8]);
});

test("snapshots that count their own interval are plotted as they are", () => {
  const pushed = run([
    [10, 5],
    [20, 8],
  ]);
  for (const snapshot of pushed.snapshots) snapshot.capture = { interval_s: 10 };

  assert.deepEqual(amountsOf(pushed.snapshots, FLOW), [5, 8]);
});

test("the line of a run and a value type is made once, and anew when news came", () => {
  const moments = run([
    [10, 5],
    [20, 8],
  ]);
  const line = timelineOf(moments, LEVEL);

  assert.equal(timelineOf(moments, LEVEL), line);
  assert.equal(timelineOf(moments, FLOW).isFlow, true);
  const later = { ...moments, snapshots: [...moments.snapshots, { ...moments.snapshots[1], seq: 3, elapsed_s: 30 }] };
  assert.equal(timelineOf(later, LEVEL).points.length, 3);
});

test("while it records, the axis reaches to the end that was asked for", () => {
  const line = timelineOf(run([[10, 5]], { duration_s: 60, is_open: true }), LEVEL);

  assert.deepEqual([line.from, line.to], [0, 60]);
});

test("a file that does not tell when has its snapshots side by side", () => {
  const line = timelineOf(
    run([
      [0, 5],
      [0, 6],
      [0, 7],
    ]),
    LEVEL,
  );

  assert.equal(line.hasClock, false);
  assert.deepEqual(
    ticksOf(line, run([])).map(({ text }) => text),
    ["1", "2", "3"],
  );
});

test("the nearest moment of a level, the interval of a flow", () => {
  const moments = run(
    [
      [10, 1],
      [20, 2],
      [40, 3],
    ],
    { duration_s: 40 },
  );

  const at = (type, share) => pointAt(timelineOf(moments, type), share);

  assert.deepEqual(
    [0, 0.3, 0.6, 0.8, 1].map((share) => at(LEVEL, share)),
    [0, 0, 1, 2, 2],
  );
  assert.deepEqual(
    [0, 0.3, 0.6, 0.8, 1].map((share) => at(FLOW, share)),
    [0, 1, 2, 2, 2],
  );
  assert.equal(pointAt(timelineOf(run([]), LEVEL), 0.5), -1);
});

test("2,000 snapshots are one path, without dots that would touch", () => {
  const many = run(Array.from({ length: 2000 }, (_, i) => [i + 1, i % 7]));

  const level = pathsOf(timelineOf(many, LEVEL));
  const flow = pathsOf(timelineOf(many, FLOW));

  assert.equal(level.line.split("L").length, 2000);
  assert.equal(level.dots, "");
  assert.equal(flow.boxes.split("Z").length - 1, 2000);
});

test("zero is on the axis, and values below it hang down", () => {
  const { boxes } = pathsOf(
    timelineOf(
      run(
        [
          [10, 5],
          [20, 0],
        ],
        { duration_s: 20 },
      ),
      FLOW,
    ),
  );

  assert.equal(boxes, "M0.00 50.00V0.00H500.00V50.00ZM500.00 50.00V100.00H1000.00V50.00Z");
});

test("a moment is told with its value and its change", () => {
  const moments = run([
    [10, 1024],
    [20, 4096],
  ]);
  const words = (type) => pointWords(timelineOf(moments, type), 1, moments, type);

  assert.deepEqual(words(LEVEL), {
    name: "20 s".replace(" ", "\u00a0"),
    facts: [
      ["value", "4.0\u00a0kB", ""],
      ["change", "+3.0\u00a0kB", "since the one before"],
    ],
  });
  assert.equal(words(FLOW).name, "10\u00a0s to 20\u00a0s");
  assert.equal(intervalName(moments, null, moments.snapshots[1]), "since the run began, until 20\u00a0s");
});
