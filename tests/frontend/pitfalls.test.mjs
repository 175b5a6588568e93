import assert from "node:assert/strict";
import test from "node:test";
import { decode } from "../../frontend/js/fgb2.js";
import { layoutTree } from "../../frontend/js/layout.js";
import { compilePattern, matchNames, matchNodes } from "../../frontend/js/search.js";
import { functionValues } from "../../frontend/js/top-table.js";
import { viewOf } from "../../frontend/js/views.js";
import { encode, stacksOfTree } from "./encode.mjs";

const DEEP = 120;
const CHAINS = 1100;
const NAMES = ["reserve_rehash", "poll", "push_back", "<init>", "grow", "数据", "apply"];

// Many stacks of 120 frames, each of them of its own from the second frame on; every 7th frame is a match inside of others.
function wideAndDeep() {
  const nch = [CHAINS];
  const name = [0];
  const self = [0];
  for (let depth = 1; depth <= DEEP; depth++)
    for (let chain = 0; chain < CHAINS; chain++) {
      nch.push(depth < DEEP ? 1 : 0);
      name.push(depth === 1 && chain % 3 ? 7 + chain : (depth + chain) % 7);
      self.push(depth === DEEP || chain % 5 === 0 ? 1 + (chain % 11) : 0);
    }
  return { nch, name, self, self2: null, strings: [...NAMES, ...Array.from({ length: CHAINS }, (_, i) => `f${i}`)] };
}

const columns = () => decode(encode(wideAndDeep()));

test("pitfalls 1 and 3: the matched total of 132,000 frames is that of a plain sum, and no count of matches throws", () => {
  const tree = layoutTree(columns());
  const found = matchNodes(tree, matchNames(tree.strings, compilePattern("rehash|poll").regex));

  const isHit = tree.strings.map((name) => /rehash|poll/.test(name));
  let plain = 0;
  for (let chain = tree.firstChild[0]; chain < tree.firstChild[1]; chain++) {
    let at = chain;
    while (at < tree.n && !isHit[tree.names[at]]) at = tree.firstChild[at]; // each frame of a chain has one child or none
    plain += tree.total[at];
  }
  assert.equal(found.total, plain);
  assert.ok(matchNodes(tree, new Uint8Array(tree.strings.length).fill(1)).frames > 125_000);
});

test("pitfall 2: a function's total is what a search for it alone finds, nested calls once", () => {
  const tree = layoutTree(columns());
  const { total } = functionValues(stacksOfTree(tree));
  NAMES.forEach((name, id) => {
    const hits = matchNames(tree.strings, { test: (other) => other === name });
    assert.equal(matchNodes(tree, hits).total, total[id], name);
  });
});

test("pitfall 4: every frame is in the tree, the deepest too, and has its place inside of its parent", () => {
  const tree = layoutTree(columns());

  assert.equal(tree.n, 1 + DEEP * CHAINS);
  assert.equal(tree.rows.length - 1, DEEP + 1);
  for (let i = 1; i < tree.n; i++) {
    const above = tree.parent[i];
    assert.ok(tree.x0[i] >= tree.x0[above] && tree.x0[i] + tree.width[i] <= tree.x0[above] + tree.width[above]);
  }
});

test("pitfall 11: views of a profile of nothing, and of one frame, are trees", () => {
  for (const [stacks, n] of [
    [{ nch: [0], name: [0], self: [0], self2: null, strings: [""] }, 1],
    [{ nch: [1, 0], name: [0, 0], self: [0, 5], self2: null, strings: ["f"] }, 2],
  ])
    for (const view of ["icicle", "bottom-up", "sandwich"]) {
      const { main } = viewOf(decode(encode(stacks)), { view, fn: "f", transforms: [], path: [] });
      assert.ok(layoutTree(main).n <= n, view);
    }
});
