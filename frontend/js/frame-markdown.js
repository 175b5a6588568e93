// A frame as Markdown for a review: what it holds in a small table, its stack, and the link that shows it.
import { pathOf } from "./frame-path.js";
import { nameOf } from "./layout.js";

const MOST_FRAMES = 12;

/** `facts` are the rows [label, value, base] of the frame, `link` its address. */
export function frameMarkdown(tree, node, facts, link) {
  const rows = facts.map(([label, value, base]) => `| ${label} | ${cell(value)} | ${cell(base ?? "")} |`);
  return [
    `**${code(nameOf(tree, node))}**`,
    "",
    "| | value | of |",
    "|---|---:|---|",
    ...rows,
    "",
    ...stackLines(pathOf(tree, node)),
    `[Open in memflame](<${link}>)`,
    "",
  ].join("\n");
}

function stackLines(path) {
  if (path.length < 2) return [];
  const skipped = path.length - MOST_FRAMES;
  const shown = skipped > 0 ? [`… ${skipped} more`, ...path.slice(-MOST_FRAMES)] : path;
  return ["```", ...shown.map((name) => name.replaceAll("```", "'''")), "```", ""];
}

const cell = (text) => text.replaceAll("|", "\\|");

// A name may hold backticks: the fence is longer than any run of them in it.
function code(name) {
  const longest = Math.max(0, ...(name.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return longest ? `${fence} ${name} ${fence}` : `${fence}${name}${fence}`;
}
