// What a graph can show of a profile: columns as they came to those of the tree, or the two, that a view draws.
import { bottomUp, sandwich } from "./inverted.js";
import { isAsCounted, measured } from "./measure.js";
import { applyTransforms, inOrder, stacksOf } from "./transforms.js";

/** By name as an address has it: the word on its button, and whether its root is at the bottom. */
export const VIEWS = {
  icicle: {
    title: "Icicle",
    isFlame: false,
    reading:
      "Begin at the top: the first row is everything, below each frame stands what it called. A frame is as wide as what it and all below it hold; what it holds itself is the part of it that has nothing below. Order from left to right means nothing.",
  },
  flame: {
    title: "Flame",
    isFlame: true,
    reading:
      "Begin at the bottom: the lowest row is everything, above each frame stands what it called. A frame is as wide as what it and all above it hold. Order from left to right means nothing.",
  },
  "bottom-up": {
    title: "Bottom-up",
    isFlame: false,
    reading:
      "The second row has the functions that hold the memory themselves, the widest first; below each stand its callers. Read it down to learn on whose behalf a function allocates.",
  },
  sandwich: {
    title: "Sandwich",
    isFlame: false,
    reading:
      "One function with all that calls it above and all that it calls below, gathered from every stack; calls inside of itself count once. Choose another in the table.",
  },
  list: {
    title: "List",
    isFlame: false,
    reading:
      "The same tree as lines: each is a frame with what it and everything below it hold, its share of all, and what it holds itself; what it called is indented below it.",
  },
};

/** What a difference has on top of each view's own reading. */
export const DIFFERENCE_READING =
  "Both sides are in one picture, each frame as wide as its larger side if nothing else is chosen. Orange grew and blue shrank, stronger the larger the part of the frame that is change; grey is less than 5 %. Hatched frames are new or gone, a strip of two colours grew and shrank inside. The number on a frame is its change.";

// Views of the tree as it is: they differ in how it is drawn.
const UPRIGHT = ["icicle", "flame", "list"];
/** The view whose tree this one draws. */
export const treeViewOf = (view) => (UPRIGHT.includes(view) ? "icicle" : view);

/** Whether the columns are drawn as they came. */
export const isPlain = ({ view, transforms, measure }) =>
  !transforms.length && UPRIGHT.includes(view) && isAsCounted(measure);

/**
 * {base, main, callers, beside} for `wanted` {view, fn, transforms, measure, path}: `base` is what the table counts, `main` the
 * graph, `callers` the graph above it in a sandwich of the function `fn`, `beside` the side before where the graph has the side
 * after. `path` is what is looked at, root first.
 */
export function viewOf(columns, wanted) {
  const base = baseOf(columns, wanted);
  const view = withView(base, wanted);
  return { base, ...view, beside: wanted.measure?.isBeside && !view.callers ? besideOf(columns, wanted) : null };
}

function besideOf(columns, wanted) {
  const before = { ...wanted, measure: { ...wanted.measure, width: "before" } };
  return withView(baseOf(columns, before), before).main;
}

/** Columns in the measure that is wanted, after the transforms. */
export function baseOf(columns, { transforms, measure }) {
  const base = measured(columns, measure);
  return transforms.length || isAsCounted(measure) ? applyTransforms(base, transforms) : inOrder(stacksOf(base));
}

function withView(base, { view, fn, path }) {
  if (view === "bottom-up") return { main: bottomUp(base, { path }), callers: null };
  if (view !== "sandwich") return { main: base, callers: null };
  const { callers, callees } = sandwich(base, fn, { path });
  return { main: callees, callers };
}
