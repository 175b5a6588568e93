// Where a file of what a page shows is downloaded from.
import { filled } from "./run-view.js";

const WIDTHS_OF_FILES = ["larger", "after"]; // a picture in a file has no others

/**
 * `pattern` is the page's, with {form} and maybe {seq}; `shown` is {seq, value_type, view}, of an interval `since` too, of a
 * difference the rules that its names are aligned by and what a frame is as wide as,
 * and whether values before are scaled so that both totals are equal. What is the default of a file is left out.
 */
export function fileAddress(
  pattern,
  form,
  { seq, since = 0, value_type, view, rules = "", width = "", isNormalized = false },
) {
  const wanted = {
    value_type,
    from: since,
    // A file has the frames as they were called: of the views only where the root stands is its own.
    view: view === "flame" ? "flame" : "icicle",
    rules,
    width_by: WIDTHS_OF_FILES.includes(width) ? width : "",
    normalize: isNormalized ? "1" : "",
  };
  const query = new URLSearchParams(Object.entries(wanted).filter(([, value]) => value));
  return `${filled(pattern, { seq, form })}?${query}`;
}
