// What is wanted of a graph, by names and not by nodes: at first, and as an address says it.
import { AS_COUNTED } from "./measure.js";

export const nothingWanted = () => ({
  focus: [],
  range: null,
  selected: [],
  keepsAllocators: false,
  view: "icicle",
  fn: "",
  transforms: [],
  measure: AS_COUNTED,
  colour: { mode: "", youngest: 0 },
  marks: false,
});

/** Of the state in an address: without a selection of its own, what is zoomed is selected. */
export function wantedOf({ focus, range, selected, keepsAllocators, view, fn, transforms, measure, colour, marks }) {
  const isSelected = selected.length || selected.hash;
  return {
    ...{ focus, range, selected: isSelected ? selected : focus },
    ...{ keepsAllocators, view, fn, transforms, measure, colour, marks },
  };
}
