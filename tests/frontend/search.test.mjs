import assert from "node:assert/strict";
import test from "node:test";
import { compilePattern, matchNames, matchNodes, matchTicks, neighbourMatch } from "../../frontend/js/search.js";
import { randomStacks } from "./encode.mjs";
import { diffOf, nodeOf, treeOf } from "./trees.mjs";

const search = (tree, text) => matchNodes(tree, matchNames(tree.strings, compilePattern(text).regex));

test("a frame matched twice on one path counts once", () => {
  const tree = treeOf({ "a;a;a": 10, "b;a": 5, c: 85 });

  const found = search(tree, "^a$");

  assert.deepEqual([found.total, found.frames, found.outermost.length], [15, 4, 2]);
});

test("the matched total is the sum over stacks that hold a match", () => {
  for (const seed of [1, 2, 3]) {
    const stacks = randomStacks(seed, { stacks: 500 });
    const exact = Object.entries(stacks).reduce(
      (sum, [stack, value]) => sum + (/(^|;)f1\d(;|$)/.test(stack) ? value : 0),
      0,
    );

    assert.equal(search(treeOf(stacks), "^f1\\d$").total, exact);
  }
});

test("a difference has the matched total of both sides", () => {
  const found = search(diffOf({ "x;leak": [10, 50], "y;leak": [0, 5], z: [9, 9] }), "leak");

  assert.deepEqual([found.total, found.total2], [10, 55]);
});

test("an expression that is none is searched as text, with a hint in words", () => {
  const { regex, hint } = compilePattern("operator()(");

  assert.equal(hint, "searched as text: ( is not closed, so this is no expression");
  assert.ok(regex.test("Sort::operator()(int)"));
  assert.ok(!regex.test("operator"));
});

test("each mistake in an expression has a hint", () => {
  for (const text of ["(a", "a)", "[a", "*a", "a\\", "a{2,1}", "(?<=a"])
    assert.match(compilePattern(text).hint, /^searched as text: ./, text);
});

test("an expression without end is not compiled", () => {
  const { regex, hint } = compilePattern("a".repeat(2001));

  assert.equal(regex, null);
  assert.match(hint, /2001 characters long, the limit is 2000/);
});

test("the counts before nodes are those of a plain count", () => {
  const tree = treeOf(randomStacks(4));

  const { before, hits } = search(tree, "f3");

  let count = 0;
  for (let i = 0; i < tree.n; i++) {
    assert.equal(before[i], count);
    if (i > 0 && hits[tree.names[i]]) count++;
  }
  assert.equal(before[tree.n], count);
});

test("next and previous go through all matches and around", () => {
  const tree = treeOf({ "a;m": 5, "b;m": 4, c: 3 });
  const found = search(tree, "^m$");
  const first = neighbourMatch(tree, found, 0, 1);
  const second = neighbourMatch(tree, found, first, 1);

  assert.deepEqual([first, second], [nodeOf(tree, "a;m"), nodeOf(tree, "b;m")]);
  assert.equal(neighbourMatch(tree, found, second, 1), first);
  assert.equal(neighbourMatch(tree, found, first, -1), second);
  assert.equal(neighbourMatch(tree, search(tree, "nothing"), 0, 1), -1);
});

test("ticks cover the matches, at least two pixels wide, and join where they touch", () => {
  const tree = treeOf({ a: 50, b: 25, "c;m": 24, "d;m": 1 });

  assert.deepEqual(matchTicks(tree, search(tree, "^[ab]$"), 100), [[0, 75]]);
  assert.deepEqual(matchTicks(tree, search(tree, "^d$"), 100), [[99, 100]]);
  assert.deepEqual(matchTicks(tree, search(tree, "^a$"), 4), [[0, 2]]);
});

test("200,000 matches do not throw", () => {
  const stacks = {};
  for (let i = 0; i < 200_000; i++) stacks[`m${i}`] = 1;

  const found = search(treeOf(stacks), "m");

  assert.deepEqual([found.frames, found.total], [200_000, 200_000]);
});
