// Stacks the other way round: which functions hold the memory, and below each its callers; also all callers and callees of one function.
import { ownWidths } from "./layout.js";
import { below, partHeader, stacksOf } from "./transforms.js";
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
  const open = Int32Array.from(starts);
  return invert(stacks, { starts: open, nodes: open, values: stacks.self, values2: stacks.self2 }, path);
}

/** {callers, callees}: columns of both trees of a function on all of the data; the root of each is the function. */
export function sandwich(columns, name, { path = [] } = {}) {
  const stacks = { ...stacksOf(columns), header: { ...columns.header, root: name } };
  const outer = outermost(stacks, name);
  const [values, values2] = [stacks.self, stacks.self2].map((column) => column && totals(column, stacks.parent));
  const callers = { starts: outer, nodes: outer.map((node) => stacks.parent[node]), values, values2 };
  return { callers: invert(stacks, callers, path), callees: below(stacks, outer) };
}

function outermost({ n, names, strings, parent }, name) {
  const id = strings.indexOf(name);
  const isInside = new Uint8Array(n);
  const found = [];
  for (let i = 1; i < n; i++) {
    isInside[i] = isInside[parent[i]];
    if (isInside[i] || names[i] !== id) continue;
    isInside[i] = 1;
    found.push(i);
  }
  return Int32Array.from(found);
}

function totals(self, parent) {
  const total = Float64Array.from(self);
  for (let i = total.length - 1; i > 0; i--) total[parent[i]] += total[i];
  return total;
}

// All stacks take a step towards the root at once: the frames of a level are known before their callers are asked for,
// and those of too narrow ones need not be.
function invert(stacks, { starts, nodes, values, values2 }, path) {
  const { strings, names, parent } = stacks;
  const builder = treeBuilder({ isDiff: Boolean(values2) });
  const widths = ownWidths(stacks.header, values, values2);
  const widthOf = (start) => Math.abs(widths[start]);
  const whole = starts.reduce((sum, start) => sum + widthOf(start), 0);
  const narrow = narrowness(builder, strings, path, whole);
  const ended = ({ starts, nodes, places }) => {
    for (let k = 0; k < nodes.length; k++)
      if (nodes[k] === 0) builder.add(places[k], values[starts[k]], values2?.[starts[k]]);
    return stillOpen({ starts, nodes, places });
  };
  let open = ended({ starts, nodes, places: new Int32Array(starts.length) });
  let cut = 0;
  while (open.starts.length) {
    const places = open.nodes.map((node, k) => builder.child(open.places[k], names[node]));
    narrow.level(places, open.starts, widthOf);
    const callers = open.nodes.map((node, k) => (narrow.has(places[k]) ? 0 : parent[node]));
    for (let k = 0; k < callers.length; k++)
      if (callers[k] === 0 && parent[open.nodes[k]] > 0) cut += narrow.countOnce(places[k]);
    open = ended({ starts: open.starts, nodes: callers, places });
  }
  return builder.columns({ ...partHeader(stacks.header), cut }, strings);
}

function stillOpen({ starts, nodes, places }) {
  const isOpen = (_, k) => nodes[k] > 0;
  return { starts: starts.filter(isOpen), nodes: nodes.filter(isOpen), places: places.filter(isOpen) };
}

// Which frames of a level are too narrow to have their callers worked out: measured by the whole, below the end of
// `path` by the frame there.
function narrowness(builder, strings, path, whole) {
  let width = new Float64Array(0);
  let first = 0;
  let isCounted = new Uint8Array(0);
  let onPath = 0; // the frame of the last level that lies on the path
  let depth = 0;
  let below = path.length ? new Set() : null; // frames of the level below the path's end; null: all are measured alike
  let leastBelow = 0;

  function follow(places) {
    if (!below) return;
    if (depth <= path.length) {
      const isNext = (place) =>
        builder.parentOf(place) === onPath && strings[builder.nameOf(place)] === path[depth - 1];
      onPath = places.find(isNext) ?? -1;
      below = new Set(depth === path.length ? [onPath] : []);
      if (depth === path.length) leastBelow = (width[onPath - first] || 0) * LEAST_SHARE;
      return;
    }
    below = new Set(places.filter((place) => below.has(builder.parentOf(place))));
  }

  return {
    level(places, starts, widthOf) {
      depth++;
      first = places.reduce((least, place) => Math.min(least, place), Infinity);
      width = new Float64Array(builder.count() - first);
      isCounted = new Uint8Array(width.length);
      for (let k = 0; k < places.length; k++) width[places[k] - first] += widthOf(starts[k]);
      follow(places);
    },
    has(place) {
      if (below && depth < path.length && place === onPath) return false;
      return width[place - first] < (below?.has(place) ? leastBelow : whole * LEAST_SHARE);
    },
    countOnce: (place) => 1 - isCounted[place - first] && (isCounted[place - first] = 1),
  };
}
