// What other viewers get wrong, by the numbers of docs/peer-faults.md; each test is a row there.
import assert from "node:assert/strict";
import test from "node:test";
import { Worker } from "node:worker_threads";
import { applyTransforms } from "../../frontend/js/transforms.js";
import { decode } from "../../frontend/js/fgb2.js";
import { drawList } from "../../frontend/js/draw-list.js";
import { findWidest } from "../../frontend/js/frame-path.js";
import { goneWords, locate } from "../../frontend/js/gone.js";
import { ownShades } from "../../frontend/js/graph-colours.js";
import { bottomUp, sandwich } from "../../frontend/js/inverted.js";
import { layoutTree, selfOf } from "../../frontend/js/layout.js";
import { compilePattern, matchNames, matchNodes } from "../../frontend/js/search.js";
import { listRows } from "../../frontend/js/text-list.js";
import { functionRows, functionValues } from "../../frontend/js/top-table.js";
import { workerClient } from "../../frontend/js/worker-client.js";
import { encode, encodeStacks, randomStacks, stacksOfTree } from "./encode.mjs";
import { nodeOf, treeOf } from "./trees.mjs";

const search = (tree, text) => matchNodes(tree, matchNames(tree.strings, compilePattern(text).regex));
const columnsFor = (stacks) => decode(encodeStacks(stacks));
const rowNamed = (tree, name) =>
  functionRows(tree.strings, functionValues(stacksOfTree(tree))).find((row) => row.name === name);

test("T18: what a search matched is of the whole, however little of it is in sight", () => {
  const tree = treeOf({ "big;leak": 445, "big;rest": 355, "small;leak": 113, other: 87 });
  const { total, width } = search(tree, "leak");
  const zoomed = { v0: tree.x0[nodeOf(tree, "small")], v1: tree.x0[nodeOf(tree, "small")] + 113 };

  drawList(tree, { ...zoomed, width: 100, top: 0, height: 100, isFlame: false }, () => 0, { matchesBefore: null });

  assert.deepEqual([total, width / tree.width[0]], [558, 0.558]);
  assert.equal(search(tree, "leak").total, total);
});

test("T19: matches inside of matches count once, also in a graph that grew meanwhile", () => {
  const early = treeOf({ "a;a;b": 10, c: 5 });
  const later = treeOf({ "a;a;b": 10, "c;a": 5, d: 5 });

  assert.deepEqual([search(early, "a|b").total, search(early, "a|b").width], [10, 10]);
  assert.deepEqual([search(later, "a|b").total, later.total[0]], [15, 20]);
});

test("T20: what is no expression is searched as it stands, with a hint", () => {
  const tree = treeOf({ "operator(": 1, "foo[": 2, "*alloc": 4, "a\\": 8 });

  for (const [text, total] of [
    ["operator(", 1],
    ["foo[", 2],
    ["*alloc", 4],
    ["a\\", 8],
  ]) {
    assert.notEqual(compilePattern(text).hint, "", text);
    assert.equal(search(tree, text).total, total, text);
  }
});

test("T23: a layout is what its tree says, and no parent is narrower than its children", () => {
  for (const seed of [1, 2, 3]) {
    const tree = treeOf(randomStacks(seed, { stacks: 300 }));
    const again = treeOf(randomStacks(seed, { stacks: 300 }));

    assert.deepEqual(tree.x0, again.x0);
    for (let i = 0; i < tree.n; i++) {
      let children = 0;
      for (let c = tree.firstChild[i]; c < tree.firstChild[i + 1]; c++) children += tree.width[c];
      assert.ok(tree.width[i] >= children);
    }
  }
});

test("T23: what is seen of all is the same before a zoom and after", () => {
  const tree = treeOf(randomStacks(4, { stacks: 300 }));
  const seen = (node) => {
    const part = { v0: tree.x0[node], v1: tree.x0[node] + tree.width[node] };
    return drawList(tree, { ...part, width: 800, top: 0, height: 400, isFlame: false }, (each) => each % 3);
  };
  const before = seen(0);

  assert.notDeepEqual(seen(tree.firstChild[1]), before);
  assert.deepEqual(seen(0), before);
});

test("T24: a parent that holds bytes itself leaves its child its own share", () => {
  const tree = treeOf({ root: 75, "root;child": 25 });

  assert.equal(tree.width[nodeOf(tree, "root;child")] / tree.width[0], 0.25);
  assert.equal(selfOf(tree, nodeOf(tree, "root")), 75);
});

test("T25: no function of the table holds more than the program", () => {
  const tree = treeOf({ "f;f;f;f": 19, "g;f;g;f": 3, h: 1 });

  assert.equal(rowNamed(tree, "f").total, 22);
  for (const row of functionRows(tree.strings, functionValues(stacksOfTree(tree))))
    assert.ok(row.total <= tree.total[0], row.name);
});

test("T26: table and sandwich count frames that no picture is wide enough for", () => {
  const stacks = { "main;wide": 1e9 };
  for (let i = 0; i < 3000; i++) stacks[`main;f${i};leaf`] = 1;
  const columns = columnsFor(stacks);

  const { callees } = sandwich(columns, "leaf");

  assert.equal(layoutTree(callees).total[0], 3000);
  const tree = layoutTree(columns);
  assert.equal(rowNamed(tree, "leaf").self, 3000);
  assert.equal(
    functionRows(tree.strings, functionValues(stacksOfTree(tree))).reduce((sum, row) => sum + row.self, 0),
    tree.total[0],
  );
});

test("T27: a match in what a step has collapsed is counted", async () => {
  const client = workerClient(startThread, { timeoutMs: 20_000 });
  try {
    await client.open(encodeStacks({ "main;lib::wrap;lib::read": 40, "main;own": 2 }), false);
    const transforms = [{ kind: "hide-module", name: "lib" }];
    await client.view({ view: "icicle", fn: "", transforms, keepsAllocators: true, path: [] }, 0);

    const { inWhole } = await client.match("lib::");

    assert.deepEqual(inWhole, { total: 40, frames: 2, isStepped: true });
  } finally {
    client.close();
  }
});

test("T27: a match in folded allocator frames is counted, and others need no second look", async () => {
  const client = workerClient(startThread, { timeoutMs: 20_000 });
  try {
    const { folded } = await client.open(encodeStacks({ "main;load;malloc": 40, "main;own": 2 }), false);
    assert.deepEqual(folded, ["malloc"]);

    const { inWhole } = await client.match("^malloc$");
    const others = await client.match("load");

    assert.deepEqual(inWhole, { total: 40, frames: 1, isStepped: false });
    assert.equal(others.inWhole, null);
  } finally {
    client.close();
  }
});

// The real worker.js in a thread of Node, which has no `self` of its own.
function startThread() {
  const address = JSON.stringify(new URL("../../frontend/js/worker.js", import.meta.url).href);
  const boot = `import { parentPort } from "node:worker_threads";
    globalThis.self = { postMessage: (message) => parentPort.postMessage(message) };
    const early = [];
    const keep = (data) => early.push(data);
    parentPort.on("message", keep);
    await import(${address});
    parentPort.off("message", keep);
    parentPort.on("message", (data) => self.onmessage({ data }));
    for (const data of early) self.onmessage({ data });`;
  const thread = new Worker(new URL(`data:text/javascript,${encodeURIComponent(boot)}`));
  const page = { postMessage: (message) => thread.postMessage(message), terminate: () => thread.terminate() };
  thread.on("message", (data) => page.onmessage({ data }));
  return page;
}

// One stack, f0 to f4999 and again; f0 holds 3 itself, the end 7.
function deepColumns() {
  const depth = 10_000;
  const all = (value, overrides) => Object.assign(Array(depth + 1).fill(value), overrides);
  const name = Array.from({ length: depth + 1 }, (_, i) => Math.max(0, i - 1) % 5000);
  const strings = Array.from({ length: 5000 }, (_, i) => `f${i}`);
  return decode(
    encode({ nch: all(1, { [depth]: 0 }), name, self: all(0, { 1: 3, [depth]: 7 }), self2: null, strings }),
  );
}

test("T28: a stack of 10,000 frames goes through every view, step and mode of colours", () => {
  const tree = layoutTree(deepColumns());

  assert.equal(tree.n, 10_001);
  for (const mode of ["memory", "warm", "module"]) assert.equal(typeof ownShades(tree, { mode })(5000), "number", mode);
  assert.equal(search(tree, "f4999").total, 7);
  assert.equal(rowNamed(tree, "f0").total, 10);
  assert.equal(layoutTree(bottomUp(deepColumns())).total[0], 10);
  assert.equal(layoutTree(sandwich(deepColumns(), "f4999").callers).total[0], 7);
  assert.ok(listRows(tree, 0).leftOut > 0);
  for (const step of [{ kind: "recursion" }, { kind: "modules" }, { kind: "hide-function", name: "f1" }])
    assert.equal(layoutTree(applyTransforms(deepColumns(), [step])).total[0], 10, step.kind);
});

test("T30: no box has a negative width, whatever sign its value has", () => {
  const tree = treeOf({ "main;grow": 5, "main;trim": -9, "main;trim;back": 2 });

  for (let i = 0; i < tree.n; i++) assert.ok(tree.width[i] >= 0);
  assert.deepEqual([tree.total[0], tree.width[0]], [-2, 16]);
});

test("T50: a link to what is gone says so, and shows the nearest that is left", () => {
  const tree = treeOf({ "main;serve;parse": 10, "main;load": 5 });

  const place = locate(tree, ["main", "serve", "old_name"]);

  assert.equal(place.node, nodeOf(tree, "main;serve"));
  assert.deepEqual(goneWords(tree, [place], { transforms: [] }), [
    "The frame old_name is not in this graph. The nearest one above it that is left, serve, is shown.",
  ]);
});

test("T51: a function with a comma is chosen by its whole name, no other is", () => {
  const names = ["std::map<int, long>::find", "std::map<int, char>::find", "foo<char, long>::find"];
  const stacks = Object.fromEntries(names.map((name, i) => [`main;${name}`, 100 * (i + 1)]));
  const tree = treeOf(stacks);

  assert.equal(tree.strings[tree.names[findWidest(tree, names[0])]], names[0]);
  assert.equal(layoutTree(sandwich(columnsFor(stacks), names[0]).callees).total[0], 100);
  const only = applyTransforms(columnsFor(stacks), [{ kind: "focus-function", name: names[0] }]);
  assert.equal(layoutTree(only).total[0], 100);
});
