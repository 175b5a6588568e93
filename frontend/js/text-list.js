// A tree as lines of text, the widest first: for reading aloud, for copying, and where a picture is no help.
import { formatPercent, formatPlural, formatValue } from "./format.js";
import { nameOf, selfOf, self2Of } from "./layout.js";

const LEAST_SHARE = 0.005; // of what is looked at
const MOST_ROWS = 500;

/**
 * Rows {node, depth} from `focus` down in the order of the picture, and how many frames are left out because they are
 * narrower than half a percent of it or come after 500 others.
 */
export function listRows(tree, focus) {
  const least = tree.width[focus] * LEAST_SHARE;
  const rows = [];
  let leftOut = 0;
  const open = [[focus, 0]];
  while (open.length) {
    const [node, depth] = open.pop();
    if (tree.width[node] < least || rows.length >= MOST_ROWS) {
      leftOut += framesBelow(tree, node);
      continue;
    }
    rows.push({ node, depth });
    for (let child = tree.firstChild[node + 1] - 1; child >= tree.firstChild[node]; child--)
      open.push([child, depth + 1]);
  }
  return { rows, leftOut };
}

// In level order what stands below a node is one range in each row.
function framesBelow({ firstChild }, node) {
  let count = 1;
  for (
    let [from, to] = [firstChild[node], firstChild[node + 1]];
    from < to;
    [from, to] = [firstChild[from], firstChild[to]]
  )
    count += to - from;
  return count;
}

/** Texts of a row: its amounts, then the name. */
export function rowWords(tree, { node }, unit) {
  const amount = (value) => formatValue(value, unit);
  if (tree.total2)
    return {
      amounts: [
        amount(tree.total[node]),
        amount(tree.total2[node]),
        signed(tree.total2[node] - tree.total[node], amount),
        signed(self2Of(tree, node) - selfOf(tree, node), amount),
      ],
      name: nameOf(tree, node),
    };
  const share = tree.width[0] ? tree.width[node] / tree.width[0] : 0;
  return {
    amounts: [amount(tree.total[node]), formatPercent(share), amount(selfOf(tree, node))],
    name: nameOf(tree, node),
  };
}

const signed = (change, amount) => (change === 0 ? "=" : `${change > 0 ? "+" : ""}${amount(change)}`);

/** Titles of the amounts. */
export const titlesOf = (tree) =>
  tree.total2 ? ["Before", "After", "Change", "Self change"] : ["Total", "of all", "Self"];

/** The list as plain text, names indented by their depth. */
export function listText(tree, { rows, leftOut }, unit) {
  const lines = rows.map((row) => {
    const { amounts, name } = rowWords(tree, row, unit);
    return `${amounts.map((text) => text.padStart(12)).join(" ")}  ${"  ".repeat(row.depth)}${name}`;
  });
  const head = `${titlesOf(tree)
    .map((title) => title.padStart(12))
    .join(" ")}  Frame`;
  return [head, ...lines, ...(leftOut ? [leftOutWords(leftOut)] : [])].join("\n") + "\n";
}

export const leftOutWords = (count) =>
  `${formatPlural(count, "narrower frame is", "narrower frames are")} left out; zoom in to have them listed.`;
