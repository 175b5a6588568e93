// Turns decoded columns into a tree that can be drawn: parents, rows, totals, widths and positions, without recursion.
import { PayloadError } from "./fgb2.js";
import { sideWidths } from "./side-widths.js";

/**
 * The tree in level order: each row is one range of nodes, sorted by x0. Takes over the arrays of `columns`.
 * `total` is the net value below a node (`total2` the after side of a difference), `width` the amount it is drawn with,
 * `larger` what it would be drawn with by its larger side: of a difference, shades are a share of that.
 */
export function layoutTree(columns) {
  const { header, n, names, strings, self, self2 } = columns;
  const { firstChild, parent, rows } = columns.parent ? columns : links(columns.childCounts, n);
  const width = ownWidths(header, self, self2);
  const larger = self2 && isByOther(header) ? addUp(sideWidths(self, self2), parent) : width;
  const isSigned = hasNegative(header, self); // before self is added up
  const total = addUp(self, parent);
  const total2 = self2 && addUp(self2, parent);
  if (width !== total) addUp(width, parent);
  checkTotals(header, total, total2, width);
  return {
    header,
    isSigned,
    n,
    names,
    strings,
    firstChild,
    parent,
    rows,
    total,
    total2,
    width,
    larger,
    x0: positions(width, firstChild, n),
  };
}

/** Who called whom, of columns: the first child of each node (one more ends the last), its parent, and where rows begin. */
export function links(childCounts, n) {
  const firstChild = new Uint32Array(n + 1);
  const parent = new Int32Array(n);
  const rows = [0];
  let next = 1;
  let rowEnd = 1;
  parent[0] = -1;
  for (let i = 0; i < n; i++) {
    if (i === rowEnd) {
      rows.push(i);
      rowEnd = next;
    }
    firstChild[i] = next;
    for (const end = next + childCounts[i]; next < end; next++) parent[next] = i;
  }
  firstChild[n] = n;
  rows.push(n);
  return { firstChild, parent, rows: Uint32Array.from(rows) };
}

const isByOther = ({ widthBy = "larger" }) => widthBy !== "larger";

// Unsigned values are their own width, so one array serves both. A negative value is as wide as its amount, and a
// difference as wide as its header says: mostly as its larger side, then nothing that vanished is missing, and children
// never stick out.
export function ownWidths(header, self, self2) {
  if (self2) return sideWidths(self, self2, header.widthBy);
  if (!mayBeNegative(header)) return self;
  const width = new Float64Array(self.length);
  for (let i = 0; i < width.length; i++) width[i] = Math.abs(self[i]);
  return width;
}

/** What all of some columns is drawn as wide as. */
export function wholeWidth({ header, self, self2 }) {
  let sum = 0;
  for (const width of ownWidths(header, self, self2)) sum += width;
  return sum;
}

export const mayBeNegative = (header) =>
  header.encoding === "zigzag" || Boolean(header.value_type?.is_signed) || header.encoding === "float64";

// Fractions may be negative as they are encoded; whether these are, their values tell.
function hasNegative(header, self) {
  const isTold = header.encoding !== "float64" || Boolean(header.value_type?.is_signed);
  return isTold ? mayBeNegative(header) : self.some((value) => value < 0);
}

/** Adds the values of nodes to those of their callers, in place. */
export function addUp(values, parent) {
  for (let i = values.length - 1; i > 0; i--) values[parent[i]] += values[i];
  return values;
}

function checkTotals(header, total, total2, width) {
  if (!(width[0] <= Number.MAX_SAFE_INTEGER))
    throw new PayloadError("The total is larger than 2^53, which a browser can't hold exactly.");
  checkSum(header.total, total[0]);
  if (total2) checkSum(header.total2, total2[0]);
}

function checkSum(stated, sum) {
  if (stated === undefined || stated === null) return;
  const slack = Number.isInteger(stated) ? 0 : Math.abs(stated) * 1e-9;
  if (Math.abs(stated - sum) > slack) throw new PayloadError(`The frames add up to ${sum}, the graph says ${stated}.`);
}

function positions(width, firstChild, n) {
  const x0 = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    let x = x0[i];
    for (let child = firstChild[i], end = firstChild[i + 1]; child < end; child++) {
      x0[child] = x;
      x += width[child];
    }
  }
  return x0;
}

/** Row of a node, the root's is 0. */
export function rowOf(tree, node) {
  let [low, high] = [0, tree.rows.length - 1];
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if (tree.rows[middle] <= node) low = middle;
    else high = middle;
  }
  return low;
}

/** What a node holds by itself: its total without its children's. */
export const selfOf = (tree, node) => withoutChildren(tree, tree.total, node);
export const self2Of = (tree, node) => withoutChildren(tree, tree.total2, node);

const ROUNDING = 2 ** -40; // of a sum of a million fractions; a self value this far under its total is what adding left

function withoutChildren(tree, totals, node) {
  let rest = totals[node];
  for (let child = tree.firstChild[node], end = tree.firstChild[node + 1]; child < end; child++) rest -= totals[child];
  const isRounding = tree.header.encoding === "float64" && Math.abs(rest) <= ROUNDING * Math.abs(totals[node]);
  return isRounding ? 0 : rest;
}

/** A tree of one function's callers or callees has that function as its root. */
export const nameOf = (tree, node) => (node === 0 ? (tree.header.root ?? "all") : tree.strings[tree.names[node]]);
export const depthOf = (tree) => tree.rows.length - 1;
