// Says what a key does on the graph: one table for the keyboard handler and for the list of keys that "?" shows.

export const KEY_HELP = [
  ["Arrow keys", "go to the frame above, below, left or right"],
  ["Enter", "zoom to the selected frame"],
  ["Escape, Backspace", "zoom out by one frame"],
  ["Home", "zoom out to all"],
  ["+ and −", "zoom in and out around the middle"],
  ["i, l, b, s, t", "icicle, flame, bottom-up, a sandwich of the selected function, and the list as text"],
  ["/", "search"],
  ["n, N", "next and previous match"],
  ["k", "keep only the stacks that match"],
  ["a, menu key", "all that can be done with the selected frame"],
  ["f, F", "only the selected frame, only its function wherever it is called"],
  ["h, H", "count the function, or its whole module, as its callers'"],
  ["x", "leave out the stacks through the function"],
  ["o", "steps of the whole graph: only my code, and others"],
  ["r, m", "collapse recursion, merge functions by module"],
  ["z", "show allocator frames, or count them as their callers'"],
  ["u", "take the last step back"],
  ["c", "colours"],
  ["p", "mark plateaus: wide frames that hold most of their bytes themselves"],
  ["y, Y, M", "copy the link to the frame, its stack, the frame as Markdown"],
  ["e", "save what is seen"],
  ["g", "filter the table of functions; its heads sort it"],
  ["w", "how to read this"],
  ["?", "this list"],
];

/** The action for a key: down is away from the root, whatever the direction of the picture. "" is none of ours. */
export function keyAction({ key, ctrlKey, metaKey, altKey }, { isFlame }) {
  if (ctrlKey || metaKey || altKey) return "";
  if (key === "ArrowDown") return isFlame ? "parent" : "child";
  if (key === "ArrowUp") return isFlame ? "child" : "parent";
  return ACTIONS[key] ?? "";
}

const ACTIONS = {
  ArrowLeft: "left",
  ArrowRight: "right",
  Enter: "zoom",
  " ": "zoom",
  Escape: "out",
  Backspace: "out",
  Home: "home",
  "+": "closer",
  "=": "closer",
  "-": "farther",
  "/": "search",
  n: "next",
  N: "previous",
  "?": "help",
  p: "marks",
  t: "view:list",
  i: "view:icicle",
  l: "view:flame",
  b: "view:bottom-up",
  s: "sandwich",
  f: "focus",
  F: "focus-function",
  h: "hide-function",
  H: "hide-module",
  x: "leave-out",
  r: "recursion",
  m: "modules",
  u: "undo",
  k: "keep",
  a: "frame-menu",
  o: "steps",
  z: "allocators",
  c: "colours",
  y: "copy-link",
  Y: "copy-stack",
  M: "copy-markdown",
  e: "save",
  g: "filter",
  w: "reading",
};

/** Where an arrow leads from a node; the node itself where there is nothing. */
export function neighbour(tree, node, action) {
  if (action === "parent") return Math.max(0, tree.parent[node]);
  if (action === "child") return firstVisibleChild(tree, node);
  const next = node + (action === "right" ? 1 : -1);
  return isSibling(tree, node, next) ? next : node;
}

function firstVisibleChild(tree, node) {
  const child = tree.firstChild[node];
  return child < tree.firstChild[node + 1] ? child : node;
}

const isSibling = (tree, node, other) =>
  node > 0 && other > 0 && other < tree.n && tree.parent[other] === tree.parent[node];
