import assert from "node:assert/strict";
import test from "node:test";
import { captureQuality, skippedLines } from "../../frontend/js/quality.js";

const plain = (text) => text.replaceAll("\u00a0", " ");
const snapshotOf = (capture, over = {}) => ({ capture, skipped_lines: 0, skipped: [], ...over });

test("a capture without losses is complete", () => {
  const quality = captureQuality(
    snapshotOf({
      collector: "malloc",
      events: 2_640_000,
      lost: {},
      frames: 1000,
      unresolved_frames: 18,
      truncated_stacks: 3,
    }),
  );

  assert.deepEqual([quality.level, quality.words, quality.banner], ["ok", ["Capture", "complete"], null]);
  assert.deepEqual(
    quality.figures.map((figure) => plain(figure.join(" ").trim())),
    ["lost 0 of 2.64 M events", "truncated 3 stacks", "without a name 1.8 % of frames", "every allocation counted"],
  );
});

test("stacks whose unwinding ended before their root are told if there are any", () => {
  const figuresOf = (count) =>
    captureQuality(snapshotOf({ events: 5, broken_unwinds: count })).figures.map((figure) => plain(figure.join(" ")));

  assert.deepEqual(figuresOf(1200), ["lost 0 of 5 events", "broken off 1,200 stacks"]);
  assert.deepEqual(figuresOf(0), ["lost 0 of 5 events"]);
  assert.deepEqual(figuresOf("many"), ["lost 0 of 5 events"]);
});

test("a capture of some sizes only does not claim every allocation", () => {
  const figureOf = (filters) => captureQuality(snapshotOf({ collector: "malloc", filters })).figures.at(-1).at(-1);

  assert.equal(figureOf({ min_size: 64 }), "every allocation of the sizes asked for counted");
  assert.equal(figureOf({ max_size: 0 }), "every allocation of the sizes asked for counted");
  assert.equal(figureOf({ older_than: "30s" }), "every allocation counted");
  assert.equal(figureOf("none"), "every allocation counted");
});

test("losses are told by cause, in a banner that is red above one per cent", () => {
  const quality = captureQuality(snapshotOf({ events: 970, lost: { ring_buffer_full: 10, stack_map_full: 20 } }));

  assert.equal(quality.level, "bad");
  assert.equal(plain(quality.banner.title), "3.0 % of events were lost: small paths may be wrong or missing");
  assert.equal(
    plain(quality.banner.text),
    "30 of 1,000 events: 20 because the stack map was full, 10 because the ring buffer was full.",
  );
});

test("a little loss is weak, not wrong", () => {
  assert.equal(captureQuality(snapshotOf({ events: 99_999, lost: { in_flight: 1 } })).banner.level, "warn");
});

test("names that could not be found are told above a tenth", () => {
  assert.match(
    captureQuality(snapshotOf({ events: 5, frames: 100, unresolved_frames: 11 })).banner.title,
    /11\.0\u00a0% of frames have no function name/,
  );
});

test("a file that does not say what it lost is not called complete", () => {
  assert.deepEqual([captureQuality(snapshotOf({})).level, captureQuality(null).level], ["unknown", "unknown"]);
});

test("claims of an upload that have the wrong form are not taken", () => {
  const hostile = {
    events: "many",
    lost: [1, 2],
    frames: -5,
    unresolved_frames: 1e300,
    truncated_stacks: null,
    notes: { a: 1 },
    probes: [null, 7, { symbol: {} }],
    allocator: ["x"],
  };

  const quality = captureQuality(snapshotOf(hostile));

  assert.deepEqual(
    [quality.level, quality.figures, quality.notes, quality.banner],
    ["unknown", [["", "", "the file does not say what was lost"]], [], null],
  );
});

test("while recording the newest losses count", () => {
  const quality = captureQuality(snapshotOf({ events: 10, lost: {} }), {
    isActive: true,
    events: 1000,
    lost: { failed_stack: 1 },
  });

  assert.deepEqual(
    [quality.words, quality.figures[0].map(plain)],
    [
      ["So far", "weak"],
      ["lost", "1", "of 1,001 events"],
    ],
  );
});

test("skipped lines are shown with number, text and reason", () => {
  const warning = skippedLines(snapshotOf({}, { skipped_lines: 3, skipped: [[12, "main;x 12,4MB", "no value"]] }));

  assert.equal(plain(warning.title), "3 lines of the file could not be read and are not in the graph");
  assert.deepEqual(warning.lines, [{ number: 12, text: "main;x 12,4MB", reason: "no value" }]);
  assert.equal(skippedLines(snapshotOf({})), null);
});
