// Stacks the other way round: which functions hold the memory, and below each its callers; also all callers and callees of one function.
import { ownWidths } from "./layout.js";
import { below, isNamed, outermost, partHeader, stacksOf } from "./transforms.js";
import { treeBuilder } from "./tree-builder.js";

/** Callers of what is narrower than this share of the whole, or of what is looked at, are not worked out. */
export const LEAST_SHARE = 1 / 20_000;

/**
 * The bottom-up tree of columns: functions by what they hold themselves, below each its callers. `path` is what is
 * looked at: there narrower frames have their callers too. `header.cut` counts frames whose callers were left out.
 */
export function bottomUp(columns, { path = [] } = {}) {
  const stacks = stacksOf(columns);
  const starts = [];
  for (let i = 1; i < stacks.n; i++) if (stacks.self[i] !== 0 || stacks.self2?.[i]) starts.push(i);
  return invert(stacks, { starts, callers: Int32Array.from(starts), values: stacks.self, values2: stacks.self2 }, path);
}

/** {callers, callees}: columns of both trees of a function on all of the data; the root of each is the function. */
export function sandwich(columns, name, { path = [] } = {}) {
  const stacks = { ...stacksOf(columns), header: { ...columns.header, root: name } };
  const starts = outermost(stacks, isNamed(stacks, name));
  const [values, values2] = [stacks.self, stacks.self2].map((column) => column && totals(column, stacks.parent));
  const callers = starts.map((node) => stacks.parent[node]);
  return { callers: invert(stacks, { starts, callers, values, values2 }, path), callees: below(stacks, starts) };
}

function totals(self, parent) {
  const total = self.slice();
  for (let i = total.length - 1; i > 0; i--) total[parent[i]] += total[i];
  return total;
}

// Each stack that is walked is an item: it begins at the node `starts` and goes on at `callers`, a step with each row.
function invert(stacks, { starts, callers, values, values2 }, path) {
  const { strings, names, parent } = stacks;
  const builder = treeBuilder({ items: starts.length, names: strings.length, isDiff: Boolean(values2) });
  for (let item = 0; item < starts.length; item++) builder.put(item, 0);
  const widths = ownWidths(stacks.header, values, values2);
  const isTooNarrow = narrowness(builder, strings, path, (item) => Math.abs(widths[starts[item]]));
  let cut = 0;
  for (let place = 0; place < builder.count(); place++) {
    const isCut = isTooNarrow(place);
    let hasMore = 0;
    for (let item = builder.firstItem(place), next; item >= 0; item = next) {
      next = builder.nextItem(item);
      const node = callers[item];
      if (node > 0 && !isCut) {
        builder.put(item, builder.child(place, names[node]));
        callers[item] = parent[node];
        continue;
      }
      builder.add(place, values[starts[item]], values2?.[starts[item]]);
      if (node > 0) hasMore = 1;
    }
    cut += hasMore;
  }
  return builder.columns({ ...partHeader(stacks.header), cut }, strings);
}

// Which frames are too narrow to have their callers worked out, asked for in their order: measured by the whole, below
// the end of `path` by the frame there.
function narrowness(builder, strings, path, widthOf) {
  const below = new Set(); // the end of the path, and what is below it
  let onPath = 0; // the last frame of the path that was met
  let met = 0; // frames of the path
  let [least, leastBelow] = [0, 0];

  function widthAt(place) {
    let width = 0;
    for (let item = builder.firstItem(place); item >= 0; item = builder.nextItem(item)) width += widthOf(item);
    return width;
  }

  function isNextOfPath(place) {
    return met < path.length && builder.parentOf(place) === onPath && strings[builder.nameOf(place)] === path[met];
  }

  return (place) => {
    const width = widthAt(place);
    if (place === 0) {
      least = width * LEAST_SHARE;
      return false;
    }
    if (isNextOfPath(place)) {
      onPath = place;
      if (++met < path.length) return false;
      leastBelow = width * LEAST_SHARE;
      below.add(place);
    } else if (below.size && below.has(builder.parentOf(place))) below.add(place);
    return width < (below.has(place) ? leastBelow : least);
  };
}
