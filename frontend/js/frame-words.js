// Says what a frame holds: on the frame, in the tooltip, in the line below the graph, and to a screen reader.
import { isMixed } from "./change-kinds.js";
import { changeOf, sideOf } from "./diff.js";
import { formatChange, formatOfOwn, formatPercent, formatShort, formatShortChange, formatValue } from "./format.js";
import { nameOf, selfOf } from "./layout.js";

/**
 * Words for the frames of one tree. `unit` is that of its numbers; `isPartial` that this is the overview, where self
 * values hold what was left out; `moved` what grew and shrank inside, of a difference.
 */
export function frameWords(tree, { unit, isPartial = false, moved = null }) {
  return tree.total2 ? changeWords(tree, unit, moved) : valueWords(tree, unit, isPartial);
}

function valueWords(tree, unit, isPartial) {
  const { isSigned } = tree;
  const all = isSigned ? "of all movement" : "of all";
  const share = (node, base) => (tree.width[base] > 0 ? tree.width[node] / tree.width[base] : 0);
  const facts = (node, focus) => {
    const shares = [`${formatPercent(share(node, 0))} ${all}`];
    if (focus > 0) shares.push(`${formatPercent(share(node, focus))} of view`);
    const rows = [[isSigned ? "net" : "total", formatValue(tree.total[node], unit), shares.join(", ")]];
    if (!isPartial)
      rows.push([
        "self",
        formatValue(selfOf(tree, node), unit),
        tree.total[0] ? `${formatPercent(selfOf(tree, node) / tree.width[0])} ${all}` : "",
      ]);
    return rows;
  };
  return {
    short: (node) => formatShort(tree.total[node], unit),
    facts,
    spoken: (node, focus) => spoken(tree, node, facts(node, focus)),
  };
}

function changeWords(tree, unit, moved) {
  const facts = (node) => {
    const [before, after] = [tree.total[node], tree.total2[node]];
    const rows = [
      ["before", formatValue(before, unit), `${formatPercent(shareOf(before, tree.total[0]))} of before`],
      ["after", formatValue(after, unit), `${formatPercent(shareOf(after, tree.total2[0]))} of after`],
      ["change", after === before ? "none" : formatChange(after - before, unit), changeBase(tree, node)],
    ];
    if (moved && isMixed(moved, node))
      rows.push(["inside", formatChange(moved.grew[node], unit), `and ${formatChange(-moved.shrank[node], unit)}`]);
    return rows;
  };
  return { short: (node) => shortChange(tree, node, unit), facts, spoken: (node) => spoken(tree, node, facts(node)) };
}

function shortChange(tree, node, unit) {
  const change = changeOf(tree, node);
  const side = sideOf(tree, node);
  if (change === 0) return "=";
  return (side ? `${side} ` : "") + formatShortChange(change, unit);
}

function changeBase(tree, node) {
  const side = sideOf(tree, node);
  if (side) return side === "new" ? "new path" : "path is gone";
  return tree.total[node] === tree.total2[node]
    ? ""
    : `${formatOfOwn(tree.total[node], tree.total2[node])} of own before`;
}

const shareOf = (value, base) => (base ? value / base : 0);
const spoken = (tree, node, facts) =>
  `${nameOf(tree, node)}, ${facts.map(([label, value, base]) => `${label} ${value}${base ? `, ${base}` : ""}`).join(", ")}`;
