import assert from "node:assert/strict";
import test from "node:test";
import { KEY_HELP, keyAction, neighbour } from "../../frontend/js/keys.js";
import { nodeOf, treeOf } from "./trees.mjs";

test("down leads away from the root in an icicle and towards it in a flame", () => {
  assert.equal(keyAction({ key: "ArrowDown" }, { isFlame: false }), "child");
  assert.equal(keyAction({ key: "ArrowDown" }, { isFlame: true }), "parent");
});

test("keys with a modifier stay the browser's", () => {
  assert.equal(keyAction({ key: "n", ctrlKey: true }, { isFlame: false }), "");
});

test("every key that does something is in the list of keys", () => {
  const listed = KEY_HELP.flatMap(([keys]) => keys.split(/, | and | /));
  const printable = Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i));
  const isFlame = false;

  const unlisted = printable.filter((key) => keyAction({ key }, { isFlame }) && !listed.includes(key));

  assert.deepEqual(unlisted, ["-", "="]); // beside − and +, which they stand for
  for (const key of listed.filter((each) => each.length === 1 && each !== "−"))
    assert.notEqual(keyAction({ key }, { isFlame }), "", key);
});

test("arrows go to the widest child, the parent and the siblings, and stop at the edges", () => {
  const tree = treeOf({ "a;x": 5, "a;y": 3, b: 1 });
  const [a, b, x, y] = ["a", "b", "a;x", "a;y"].map((stack) => nodeOf(tree, stack));

  assert.equal(neighbour(tree, a, "child"), x);
  assert.equal(neighbour(tree, x, "child"), x);
  assert.equal(neighbour(tree, x, "right"), y);
  assert.equal(neighbour(tree, y, "right"), y);
  assert.equal(neighbour(tree, x, "left"), x);
  assert.equal(neighbour(tree, a, "right"), b);
  assert.equal(neighbour(tree, y, "parent"), a);
  assert.equal(neighbour(tree, 0, "parent"), 0);
  assert.equal(neighbour(tree, 0, "right"), 0);
});
