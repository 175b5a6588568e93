import assert from "node:assert/strict";
import test from "node:test";
import { afterGraph } from "../../frontend/js/after-graph.js";

const turn = () => new Promise((resolve) => setTimeout(resolve));

test("what waits is done in its order once the graph was seen, and what comes then at once", async () => {
  const frames = [];
  globalThis.requestAnimationFrame = (act) => frames.push(act);
  const done = [];
  const later = afterGraph();

  later(() => done.push("first"));
  later(() => done.push("second"));
  later.open();
  await turn();
  assert.deepEqual(done, []);
  while (frames.length) frames.shift()();
  await turn();
  later(() => done.push("third"));

  assert.deepEqual(done, ["first", "second", "third"]);
  delete globalThis.requestAnimationFrame;
});

test("a page that nobody sees does not wait for ever", async () => {
  globalThis.requestAnimationFrame = () => {};
  const done = [];
  const later = afterGraph();
  later(() => done.push("it"));

  later.open();
  later.open();
  while (!done.length) await turn();

  assert.deepEqual(done, ["it"]);
  delete globalThis.requestAnimationFrame;
});
