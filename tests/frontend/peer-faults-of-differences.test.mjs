// What other viewers get wrong about differences, by the numbers of docs/peer-faults.md; each test is a row there.
import assert from "node:assert/strict";
import test from "node:test";
import { changesOf, finding, movements } from "../../frontend/js/diff.js";
import { decode } from "../../frontend/js/fgb2.js";
import { formatChange } from "../../frontend/js/format.js";
import { frameWords } from "../../frontend/js/frame-words.js";
import { ownShades } from "../../frontend/js/graph-colours.js";
import { bottomUp } from "../../frontend/js/inverted.js";
import { layoutTree } from "../../frontend/js/layout.js";
import { measured } from "../../frontend/js/measure.js";
import { WIDTHS } from "../../frontend/js/side-widths.js";
import { functionRows, functionValues } from "../../frontend/js/top-table.js";
import { stacksOf } from "../../frontend/js/transforms.js";
import { encodeStacks, randomStacks } from "./encode.mjs";
import { diffOf, nodeOf } from "./trees.mjs";

const MB = 2 ** 20;
const columnsOf = (stacks) => decode(encodeStacks(stacks, { isDiff: true }));
const shades = (tree) => ownShades(tree, { mode: "change" });
const mirrored = (stacks) =>
  Object.fromEntries(Object.entries(stacks).map(([stack, sides]) => [stack, sides.toReversed()]));
const factsOf = (tree, node) => frameWords(tree, { unit: "bytes", moved: movements(tree) }).facts(node, 0);

const rowsOf = (stacks) => functionRows(columnsOf(stacks).strings, functionValues(stacksOf(columnsOf(stacks))));

/** The sentence above a difference, and how much it says that all of it changed. */
function summaryOf(stacks) {
  const changes = changesOf(stacksOf(columnsOf(stacks)), rowsOf(stacks));
  const sentence = finding(changes, "bytes").map(({ text }) => text);
  return { sentence: sentence.join("").replaceAll("\u00a0", " "), totals: changes.totals };
}

test("T21: a frame that holds nothing on either side has the colour of no change", () => {
  const tree = diffOf({ "main;same": [5, 5], "main;nothing;below": [0, 0], "main;new": [0, 5] });
  const shadeOf = (stack) => shades(tree)(nodeOf(tree, stack));

  assert.equal(shadeOf("main;nothing"), shadeOf("main;same"));
  assert.equal(shadeOf("main;nothing;below"), shadeOf("main;same"));
  assert.notEqual(shadeOf("main;new"), shadeOf("main;same"));
});

test("T22: a parent whose children made up for what it lost itself is neutral", () => {
  const tree = diffOf({ "main;pool": [10, 2], "main;pool;grown": [5, 13], "main;same": [5, 5] });
  const shadeOf = (stack) => shades(tree)(nodeOf(tree, stack));

  assert.equal(shadeOf("main;pool"), shadeOf("main;same"));
  assert.notEqual(shadeOf("main;pool;grown"), shadeOf("main;same"));
});

test("T31: two sides that are the same, or hold nothing, are no division by zero", () => {
  for (const stacks of [{ "main;a": [7, 7], "main;b": [3, 3] }, { "main;a": [0, 0] }, {}]) {
    const tree = diffOf(stacks);

    const { sentence } = summaryOf(stacks);
    assert.match(sentence, /^Nothing changed: both sides hold/);
    for (let node = 0; node < tree.n; node++) {
      const facts = factsOf(tree, node);
      assert.deepEqual(facts.find(([label]) => label === "change").slice(1), ["none", ""]);
      assert.doesNotMatch(facts.flat().join(" "), /NaN|Infinity|lost|\u2212/);
    }
  }
});

test("T32: sentence, root, table and the view turned round tell one change", () => {
  const stacks = { "main;parse;grow": [100 * MB, 412 * MB], "main;old": [30 * MB, 0], "main;parse": [1 * MB, 4 * MB] };
  const tree = diffOf(stacks);
  const change = 285 * MB;

  const turned = layoutTree(bottomUp(columnsOf(stacks)));
  const rows = rowsOf(stacks);

  const { totals } = summaryOf(stacks);
  assert.equal(totals[1] - totals[0], change);
  assert.equal(tree.total2[0] - tree.total[0], change);
  assert.equal(turned.total2[0] - turned.total[0], change);
  assert.equal(rows.find(({ name }) => name === "main").totalChange, change);
  assert.equal(
    rows.reduce((sum, { selfChange }) => sum + selfChange, 0),
    change,
  );
  assert.equal(factsOf(tree, 0).find(([label]) => label === "change")[1], formatChange(change, "bytes"));
  assert.deepEqual(factsOf(turned, 0), factsOf(tree, 0));
});

test("T34: what grew has one colour and what shrank the other, whichever side the widths are of", () => {
  const stacks = { "main;grew": [10, 90], "main;shrank": [90, 10], "main;same": [20, 20] };
  for (const width of Object.keys(WIDTHS)) {
    const drawn = (of) => layoutTree(measured(columnsOf(of), { width, scale: "counted", isBeside: false }));
    const [there, back] = [drawn(stacks), drawn(mirrored(stacks))];
    const shadeOf = (tree, name) => shades(tree)(nodeOf(tree, `main;${name}`));

    assert.equal(shadeOf(there, "grew"), shadeOf(back, "shrank"), width);
    assert.equal(shadeOf(there, "shrank"), shadeOf(back, "grew"), width);
    assert.equal(new Set(["grew", "shrank", "same"].map((name) => shadeOf(there, name))).size, 3, width);
  }
});

test("T34: exact mirrors have mirrored colours, on every frame", () => {
  const [a, b] = [randomStacks(6), randomStacks(7)];
  const stacks = Object.fromEntries(
    [...new Set([...Object.keys(a), ...Object.keys(b)])].map((key) => [key, [a[key] ?? 0, b[key] ?? 0]]),
  );
  const [there, back] = [diffOf(stacks), diffOf(mirrored(stacks))];
  const pairs = new Map();

  for (const stack of Object.keys(stacks)) {
    const [one, other] = [shades(there)(nodeOf(there, stack)), shades(back)(nodeOf(back, stack))];
    assert.equal(pairs.get(one) ?? other, other, stack);
    pairs.set(one, other);
  }
  for (const [one, other] of pairs) assert.equal(pairs.get(other) ?? one, one);
});
