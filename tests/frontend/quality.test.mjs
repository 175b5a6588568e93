import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { gradeOf } from "../../frontend/js/grade.js";
import { captureQuality, skippedLines } from "../../frontend/js/quality.js";

const plain = (text) => text.replaceAll("\u00a0", " ");
const snapshotOf = (capture, over = {}) => ({ capture, skipped_lines: 0, skipped: [], ...over });
const casesOf = (name) => JSON.parse(readFileSync(new URL(`../view/${name}.json`, import.meta.url)));

for (const { about, capture, skipped_lines: skipped, grade, findings } of casesOf("grades"))
  test(`the grade of a capture: ${about}`, () => {
    const found = gradeOf(capture, skipped);

    assert.equal(found.grade, grade);
    assert.deepEqual(
      found.findings.map(({ grade, cause, share }) => [grade, cause, Number(share.toPrecision(6))]),
      findings,
    );
  });

for (const { about, capture, skipped_lines: skipped, unit, level, word, figures, notes, banner } of casesOf("quality"))
  test(`the words on a capture: ${about}`, () => {
    const quality = captureQuality(snapshotOf(capture, { skipped_lines: skipped }), { value_types: [{ unit }] });

    assert.deepEqual([quality.level, quality.words], [level, ["Capture", word]]);
    assert.deepEqual(quality.figures, figures);
    assert.deepEqual(quality.notes, notes);
    assert.deepEqual(quality.banner, banner);
  });

test("a snapshot that has not come is not called complete", () => {
  assert.equal(captureQuality(null).level, "unknown");
});

test("while recording the newest losses count", () => {
  const quality = captureQuality(snapshotOf({ events: 10, lost: {} }), {
    isActive: true,
    events: 100,
    lost: { failed_stack: 1 },
  });

  assert.deepEqual(
    [quality.words, quality.figures[0].map(plain)],
    [
      ["So far", "C, weak"],
      ["lost", "1", "of 101 events"],
    ],
  );
});

test("skipped lines are shown with number, text and reason", () => {
  const warning = skippedLines(snapshotOf({}, { skipped_lines: 3, skipped: [[12, "main;x 12,4MB", "no value"]] }));

  assert.equal(plain(warning.title), "3 lines of the file could not be read and are not in the graph");
  assert.deepEqual(warning.lines, [{ number: 12, text: "main;x 12,4MB", reason: "no value" }]);
  assert.equal(skippedLines(snapshotOf({})), null);
});
