// What a graph can show of a profile: columns as they came to those of the tree, or the two, that a view draws.
import { bottomUp, sandwich } from "./inverted.js";
import { applyTransforms } from "./transforms.js";

/** By name as an address has it: the word on its button, and whether its root is at the bottom. */
export const VIEWS = {
  icicle: { title: "Icicle", isFlame: false },
  flame: { title: "Flame", isFlame: true },
  "bottom-up": { title: "Bottom-up", isFlame: false },
  sandwich: { title: "Sandwich", isFlame: false },
};

/** Whether the columns are drawn as they came. */
export const isPlain = ({ view, transforms }) => !transforms.length && (view === "icicle" || view === "flame");

/**
 * {base, main, callers} for `wanted` {view, fn, transforms, path}: `base` is what the table counts, `main` the graph, and
 * `callers` the graph above it in a sandwich of the function `fn`. `path` is what is looked at, root first.
 */
export function viewOf(columns, wanted) {
  return withView(applyTransforms(columns, wanted.transforms), wanted);
}

/** The same of columns that the transforms were applied to. */
export function withView(base, { view, fn, path }) {
  if (view === "bottom-up") return { base, main: bottomUp(base, { path }), callers: null };
  if (view !== "sandwich") return { base, main: base, callers: null };
  const { callers, callees } = sandwich(base, fn, { path });
  return { base, main: callees, callers };
}
