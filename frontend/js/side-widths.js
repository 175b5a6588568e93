// What a frame of a difference is as wide as: of its value before and after to one width, with the words for it.

/**
 * By name as an address has it: the word in the list, `of(before, after)` for what a stack holds by itself, what width is
 * in words, and what has none: by what it is drawn, nothing may vanish in silence.
 */
export const WIDTHS = {
  larger: {
    title: "larger side",
    of: (before, after) => Math.max(Math.abs(before), Math.abs(after)),
    words: "the larger side of each path",
    without: "",
  },
  after: {
    title: "after",
    of: (before, after) => Math.abs(after),
    words: "what is there after",
    without: "What shrank or is gone",
  },
  before: {
    title: "before",
    of: (before) => Math.abs(before),
    words: "what was there before",
    without: "What grew or is new",
  },
  moved: {
    title: "grew + shrank",
    of: (before, after) => Math.abs(after - before),
    words: "what grew and what shrank, added up path by path",
    without: "What is the same on both sides",
  },
};

/** Widths of nodes without what is below them. */
export function sideWidths(self, self2, by = "larger") {
  const { of } = WIDTHS[by];
  const width = new Float64Array(self.length);
  for (let i = 0; i < width.length; i++) width[i] = of(self[i], self2[i]);
  return width;
}
