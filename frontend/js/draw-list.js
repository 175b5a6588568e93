// Picks what of a tree is seen: frames that are wide enough one by one, all narrower ones together as thin bars.
// The cost is rows on screen times pixels, whatever the size of the tree, and no mass disappears.

export const ROW = 20;
/** Narrower than this many pixels, a frame is part of a bar. */
export const MIN_FRAME = 1.5;
// Functions narrower than a pixel each are noise when every pixel has its own colour, and cost a rectangle each.
const JOINED_PX = 4;

/**
 * What to draw. `view` is {v0, v1, width, top, height, isFlame}: the domain in values, the rest in pixels, `top` the scroll offset.
 * `shadeOf(node)` tells a frame's colour; `matchesBefore`, if given, counts matches before each node: a bar that holds one has `matchShade`. Colours that mean something (`isExact`) are never joined.
 * Returns frames [{node, row, x, w}] and bars [{node, row, x, w, shade}]; a bar's node is the first in it.
 */
export function drawList(tree, view, shadeOf, { matchesBefore = null, matchShade = -1, isExact = false } = {}) {
  const list = { frames: [], bars: [] };
  const [first, last] = visibleRows(tree, view);
  const shades = { shadeOf, matchesBefore, matchShade, joinedPx: isExact ? 1 : JOINED_PX };
  for (let row = first; row < last; row++) addRow(list, tree, view, row, shades);
  return list;
}

/** First row on screen and the one after the last. */
export function visibleRows(tree, { top, height, isFlame }) {
  const rows = tree.rows.length - 1;
  const from = Math.max(0, Math.floor(top / ROW));
  const to = Math.min(rows, Math.ceil((top + height) / ROW));
  return isFlame ? [rows - to, rows - from] : [from, to];
}

/** Top edge of a row in the canvas; a flame has its root at the bottom. */
export function rowY(tree, { top, isFlame }, row) {
  return (isFlame ? tree.rows.length - 2 - row : row) * ROW - top;
}

function addRow(list, tree, view, row, shades) {
  const { x0, width } = tree;
  const end = tree.rows[row + 1];
  const scale = view.width / (view.v1 - view.v0);
  let node = firstRightOf(tree, tree.rows[row], end, view.v0);
  let bar = null;
  while (node < end && x0[node] < view.v1) {
    const x = (x0[node] - view.v0) * scale;
    const w = width[node] * scale;
    if (w >= MIN_FRAME) {
      list.frames.push({ node, row, x, w });
      bar = null;
      node++;
      continue;
    }
    const next = endOfBar(tree, node, end, view.v0 + (Math.floor(x) + 1) / scale, scale);
    if (hasMass(tree, node, next)) bar = addBar(list, bar, row, Math.max(0, Math.floor(x)), node, next, shades);
    node = next;
  }
}

// Nodes of a row stand side by side, so both edges rise: the first whose right edge is inside the view.
function firstRightOf({ x0, width }, start, end, v0) {
  let [low, high] = [start, end];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x0[middle] + width[middle] > v0) high = middle;
    else low = middle + 1;
  }
  return low;
}

// All that begins before the edge of the pixel: steps double, then a binary search. Only the last of them can reach
// beyond the pixel; if it is wide, it is a frame of its own.
function endOfBar(tree, node, end, edge, scale) {
  const { x0, width } = tree;
  let step = 1;
  let high = node + 1;
  while (high < end && x0[high] < edge) {
    high += step;
    step *= 2;
  }
  let low = Math.max(node + 1, high - step);
  high = Math.min(high, end);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x0[middle] < edge) low = middle + 1;
    else high = middle;
  }
  return low - 1 > node && width[low - 1] * scale >= MIN_FRAME ? low - 1 : low;
}

const hasMass = ({ x0, width }, node, next) => x0[next - 1] + width[next - 1] > x0[node];

const holdsMatch = (node, next, { matchesBefore }) =>
  matchesBefore !== null && matchesBefore[next] > matchesBefore[node];

// Neighbouring pixels of one colour are one rectangle: a full view then costs no more than one that drops small frames.
// Working out a colour costs more than drawing it, so one that is not drawn isn't asked for.
function addBar(list, last, row, x, node, next, shades) {
  const isMatch = holdsMatch(node, next, shades);
  const isBeside = last !== null && last.x + last.w === x;
  if (isBeside && last.isMatch === isMatch && (isMatch || last.w < shades.joinedPx)) return widened(last);
  const shade = isMatch ? shades.matchShade : shades.shadeOf(node);
  if (isBeside && last.shade === shade) return widened(last);
  const bar = { node, row, x, w: 1, shade, isMatch };
  list.bars.push(bar);
  return bar;
}

function widened(bar) {
  bar.w++;
  return bar;
}

/** The node at a point of the canvas, -1 where there is none. */
export function nodeAt(tree, view, px, py) {
  const line = Math.floor((py + view.top) / ROW);
  const row = view.isFlame ? tree.rows.length - 2 - line : line;
  if (row < 0 || row >= tree.rows.length - 1) return -1;
  const value = view.v0 + (px * (view.v1 - view.v0)) / view.width;
  const node = firstRightOf(tree, tree.rows[row], tree.rows[row + 1], value);
  return node < tree.rows[row + 1] && tree.x0[node] <= value ? node : -1;
}
