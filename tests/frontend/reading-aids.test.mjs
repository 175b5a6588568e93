import assert from "node:assert/strict";
import test from "node:test";
import { frameMarkdown } from "../../frontend/js/frame-markdown.js";
import { frameWords } from "../../frontend/js/frame-words.js";
import { plateausOf } from "../../frontend/js/plateaus.js";
import { runFinding } from "../../frontend/js/run-finding.js";
import { listRows, listText } from "../../frontend/js/text-list.js";
import { functionRows, functionValues } from "../../frontend/js/top-table.js";
import { randomStacks, stacksOfTree } from "./encode.mjs";
import { diffOf, nodeOf, treeOf } from "./trees.mjs";

test("the list has frames in the order of the picture, indented by their depth", () => {
  const tree = treeOf({ "main;serve;leak": 700, "main;load": 290, "main;serve": 10 });

  assert.equal(
    listText(tree, listRows(tree, 0), "").replaceAll("\u00a0", " "),
    [
      "       Total       of all         Self  Frame",
      "       1,000      100.0 %            0  all",
      "       1,000      100.0 %            0    main",
      "         710       71.0 %           10      serve",
      "         700       70.0 %          700        leak",
      "         290       29.0 %          290      load",
      "",
    ].join("\n"),
  );
});

test("the list says how many frames it leaves out, each once", () => {
  for (let seed = 1; seed < 10; seed++) {
    const tree = treeOf(randomStacks(seed));
    const { rows, leftOut } = listRows(tree, 0);

    assert.equal(rows.length + leftOut, tree.n);
  }
});

test("a list of 1,000 equal siblings stops, and counts the rest", () => {
  const many = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`a;f${i};g;h;i`, 1]));
  const { rows, leftOut } = listRows(treeOf(many), 0);

  assert.deepEqual([rows.length, leftOut], [500, 2 + 600 - 500]);
});

test("the list of a difference has both sides and the change", () => {
  const text = listText(...listOf(diffOf({ "a;grown": [10, 30], "a;gone": [5, 0] })), "").replaceAll("\u00a0", " ");

  assert.match(text, /Before +After +Change +Self change +Frame/);
  assert.match(text, /10 +30 +\+20 +\+20 +grown/);
  assert.match(text, /5 +0 +\u22125 +\u22125 +gone/);
});

const listOf = (tree) => [tree, listRows(tree, 0)];

test("plateaus are wide frames that hold most of their bytes themselves", () => {
  const tree = treeOf({ "main;serve": 600, "main;serve;x": 300, "main;load;y": 90, "main;load": 1, "main;load;z": 9 });
  const marks = plateausOf(tree);
  const isMarked = (path) => marks[nodeOf(tree, path)] === 1;

  assert.deepEqual(["main", "main;serve", "main;serve;x", "main;load", "main;load;y", "main;load;z"].map(isMarked), [
    false,
    true,
    true,
    false,
    true,
    false,
  ]);
});

test("a frame as Markdown keeps its name, whatever it holds", () => {
  const tree = treeOf({ "main;a`b|c": 40, main: 60 });
  const node = nodeOf(tree, "main;a`b|c");
  const text = frameMarkdown(tree, node, frameWords(tree, { unit: "bytes" }).facts(node, 0), "https://x/#a>b");

  assert.match(text, /^\*\*`` a`b\|c ``\*\*$/m);
  assert.match(text, /^\| total \| 40\u00a0B \| 40\.0\u00a0% of all \|$/m);
  assert.match(text, /^main\na`b\|c$/m);
});

test("the finding of a run names the function that holds most, and what the whole did", () => {
  const tree = treeOf({ "main;a;leak": 700, "main;b;leak": 200, "main;load": 100 });
  const rows = functionRows(tree.strings, functionValues(stacksOfTree(tree)));
  const text = (options) =>
    runFinding(rows, { all: tree.width[0], ...options })
      .map((piece) => piece.text)
      .join("")
      .replaceAll("\u00a0", " ");

  assert.equal(text({ unit: "bytes", kind: "level" }), "leak holds 900 B itself, 90 % of all, on 2 paths.");
  assert.equal(
    text({ unit: "bytes", kind: "level", growth: { change: 1024, words: "in the last minute" } }),
    "leak holds 900 B itself, 90 % of all, on 2 paths; the whole grew by 1.0 kB in the last minute.",
  );
  assert.equal(text({ unit: "calls", kind: "flow" }), "leak accounts for 900 calls itself, 90 % of all, on 2 paths.");
});
