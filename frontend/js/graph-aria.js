// Tells a screen reader what is around the selected frame: a window of tree items, never all frames.
import { element } from "./dom.js";
import { ancestorsOf } from "./frame-path.js";

const MAX_SIBLINGS = 50; // on each side
const MAX_CHILDREN = 100;

/** Fills `list` with the selected frame, its ancestors, siblings and children, and points `tree` at it. */
export function describeAround(host, list, tree, words, { selected, focus }) {
  const path = ancestorsOf(tree, selected);
  const items = path.slice(0, -1).map((node, level) => item(tree, words, node, level + 1, focus));
  items.push(...siblings(tree, selected).map((node) => item(tree, words, node, path.length, focus, node === selected)));
  const at = items.findIndex(({ id }) => id === idOf(host, selected));
  items.splice(at + 1, 0, ...children(tree, selected).map((node) => item(tree, words, node, path.length + 1, focus)));
  list.replaceChildren(...items);
  host.setAttribute("aria-activedescendant", idOf(host, selected));

  function item(tree, words, node, level, focus, isSelected = false) {
    const [first, end] = node === 0 ? [0, 1] : siblingRange(tree, node);
    return element(
      "div",
      {
        id: idOf(host, node),
        role: "treeitem",
        "aria-level": level,
        "aria-setsize": end - first,
        "aria-posinset": node - first + 1,
        "aria-expanded":
          tree.firstChild[node] < tree.firstChild[node + 1] ? String(isSelected || level < path.length) : null,
        "aria-selected": String(isSelected),
      },
      words.spoken(node, focus),
    );
  }
}

const idOf = (host, node) => `${host.id}-${node}`;
const siblingRange = (tree, node) => [tree.firstChild[tree.parent[node]], tree.firstChild[tree.parent[node] + 1]];

function siblings(tree, node) {
  if (node === 0) return [0];
  const [first, end] = siblingRange(tree, node);
  return range(Math.max(first, node - MAX_SIBLINGS), Math.min(end, node + MAX_SIBLINGS + 1));
}

function children(tree, node) {
  const first = tree.firstChild[node];
  return range(first, Math.min(tree.firstChild[node + 1], first + MAX_CHILDREN));
}

const range = (from, to) => Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
