import assert from "node:assert/strict";
import test from "node:test";
import { captureLoader } from "../../frontend/js/captures.js";

const BRIEF = { seq: 7, revision: 1, totals: { bytes: 5 }, capture: { thinned: "" }, skipped: [], is_brief: true };
const TOLD = { capture: { collector: "malloc", events: 900 }, skipped: [[3, "line", "why"]] };

// Stands in for the site: `answer(address)` is a Response, a promise of one, or throws.
function site(answer) {
  const asked = [];
  globalThis.fetch = async (address) => {
    asked.push(address);
    return answer(address);
  };
  return asked;
}

test("a brief snapshot has its capture once the site has told it, and the site is asked once", async () => {
  const asked = site(() => Response.json(TOLD));
  const captures = captureLoader("/api/v1/runs/r-1");
  assert.equal(captures.of(BRIEF).is_brief, true);

  assert.deepEqual(await Promise.all([captures.load(BRIEF), captures.load(BRIEF)]), [true, true]);
  assert.equal(await captures.load(BRIEF), true);

  assert.deepEqual(asked, ["/api/v1/runs/r-1/snapshots/7/capture"]);
  assert.deepEqual(captures.of(BRIEF), { ...BRIEF, ...TOLD, is_brief: false });
});

test("a snapshot that is not brief, and none at all, are as they are", () => {
  const captures = captureLoader("/api");
  const whole = { ...BRIEF, is_brief: undefined };

  assert.equal(captures.of(whole), whole);
  assert.equal(captures.of(null), null);
});

test("a snapshot that was read anew is asked for again, and keeps no older capture", async () => {
  const asked = site((address) => Response.json({ ...TOLD, capture: { address } }));
  const captures = captureLoader("/api");
  await captures.load(BRIEF);

  const again = { ...BRIEF, revision: 2 };
  assert.equal(captures.of(again).is_brief, true);
  await captures.load(again);

  assert.equal(asked.length, 2);
  assert.equal(captures.of(again).is_brief, false);
});

for (const [name, answer] of Object.entries({
  "does not answer": () => Promise.reject(new TypeError("no network")),
  "answers with an error": () => new Response("{}", { status: 503 }),
  "answers with what is no JSON": () => new Response("<html>"),
}))
  test(`a site that ${name} has told nothing, and is asked again`, async () => {
    const asked = site(answer);
    const captures = captureLoader("/api");

    assert.equal(await captures.load(BRIEF), false);
    assert.deepEqual(captures.of(BRIEF), BRIEF);
    site(() => Response.json(TOLD));
    assert.equal(await captures.load(BRIEF), true);
    assert.equal(asked.length, 1);
  });

test("captures that come in another order than they were asked for belong to their snapshots", async () => {
  const held = new Map();
  site((address) => new Promise((tell) => held.set(address, tell)));
  const captures = captureLoader("");
  const [one, two] = [BRIEF, { ...BRIEF, seq: 8 }];
  const both = [captures.load(one), captures.load(two)];
  await Promise.resolve();

  for (const seq of [8, 7]) held.get(`/snapshots/${seq}/capture`)(Response.json({ capture: { seq }, skipped: [] }));
  await Promise.all(both);

  assert.deepEqual(
    [one, two].map((snapshot) => captures.of(snapshot).capture.seq),
    [7, 8],
  );
});
