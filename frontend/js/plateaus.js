// Finds plateaus: wide frames that hold most of their bytes themselves. There the memory is, whatever stands above.
import { selfOf } from "./layout.js";

const WIDE = 0.01; // of all
const OWN = 0.5; // of the frame's width

/** One byte for each node. */
export function plateausOf(tree) {
  const marks = new Uint8Array(tree.n);
  const least = tree.width[0] * WIDE;
  for (let i = 1; i < tree.n; i++)
    if (tree.width[i] >= least && Math.abs(selfOf(tree, i)) >= tree.width[i] * OWN) marks[i] = 1;
  return marks;
}
