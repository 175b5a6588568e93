// Finds the frames that a link asks for, and says in words what of it is not there.
import { findPath } from "./frame-path.js";
import { nameOf } from "./layout.js";
import { findHash } from "./url-state.js";

/** {node, missing, name} of a path of names, or of the hash of one: the nearest frame that is left. */
export function locate(tree, path) {
  if (Array.isArray(path)) return { ...findPath(tree, path), name: path.at(-1) };
  const node = findHash(tree, path.hash);
  return { node: Math.max(0, node), missing: node < 0 ? 1 : 0, name: path.last };
}

/** Sentences on what was asked for and is not in the tree, and on a tree that has nothing to draw. */
export function goneWords(tree, located, { transforms }) {
  const lines = located.filter(({ missing }) => missing > 0).map((lost) => lostWords(tree, lost));
  if (tree.width[0] === 0) lines.push(nothingWords(tree, transforms));
  return [...new Set(lines)];
}

function lostWords(tree, { name, node }) {
  const left = node ? `The nearest one above it that is left, ${nameOf(tree, node)}, is shown.` : "All is shown.";
  return `The frame ${name} is not in this graph. ${left}`;
}

function nothingWords({ n, header }, transforms) {
  if (header.root) return `The function ${header.root} is not in this graph.`;
  if (transforms.length) return "The steps above leave nothing: take one of them back.";
  return n > 1
    ? "All values are zero, so no frame has a width. The table lists the functions."
    : "Nothing that is counted here happened while it was traced.";
}
