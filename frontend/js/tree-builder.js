// Grows a tree in level order out of items that stand at its nodes, and turns it into columns, the widest child first.
import { ownWidths } from "./layout.js";

const FIRST_ROOM = 1024; // nodes; doubled when it is full
const NONE = -1;

/**
 * An empty tree with its root, node 0. Items are numbers below `items`, names are below `names`; `isDiff` says whether
 * nodes have a second value. Nodes are worked on one after the other: the children of a node are made before those of
 * the next, so a child is found in an array by name, where a table of (parent, name) would be ten times as slow.
 */
export function treeBuilder({ items, names, isDiff = false }) {
  let room = FIRST_ROOM;
  let [parent, name, first, last] = [new Int32Array(room), new Uint32Array(room), nones(room), nones(room)];
  let [self, self2] = [new Float64Array(room), isDiff ? new Float64Array(room) : null];
  const behind = new Int32Array(items); // the item behind an item at its node
  const madeFor = nones(names); // by name: the node whose child of that name was made last
  const made = new Int32Array(names); // and that child
  let n = 1;

  function grow() {
    room *= 2;
    [parent, name] = [copied(parent, new Int32Array(room)), copied(name, new Uint32Array(room))];
    [first, last] = [copied(first, nones(room)), copied(last, nones(room))];
    self = copied(self, new Float64Array(room));
    self2 &&= copied(self2, new Float64Array(room));
  }

  return {
    /** The child of the node that is worked on, made if there is none of that name. */
    child(node, id) {
      if (madeFor[id] === node) return made[id];
      if (n === room) grow();
      madeFor[id] = node;
      made[id] = n;
      parent[n] = node;
      name[n] = id;
      return n++;
    },
    /** Puts an item behind those of a node; it may have been taken from another. */
    put(item, node) {
      if (last[node] === NONE) first[node] = item;
      else behind[last[node]] = item;
      last[node] = item;
      behind[item] = NONE;
    },
    add(node, value, value2) {
      self[node] += value;
      if (self2) self2[node] += value2;
    },
    /** The first item at a node and the one behind an item, -1 for none. */
    firstItem: (node) => first[node],
    nextItem: (item) => behind[item],
    parentOf: (node) => parent[node],
    nameOf: (node) => name[node],
    count: () => n,
    /** Columns of what has grown, with this header and these names. */
    columns(header, strings) {
      const cut = (column) => column && column.subarray(0, n);
      return widestFirst(
        { header, n, parent: cut(parent), names: cut(name), self: cut(self), self2: cut(self2) },
        strings,
      );
    },
  };
}

const nones = (size) => new Int32Array(size).fill(NONE);

function copied(from, to) {
  to.set(from);
  return to;
}

function widestFirst({ header, n, parent, names, self, self2 }, strings) {
  const width = widthsOf(header, parent, self, self2);
  const firstChild = firstChildren(parent, n);
  const order = new Uint32Array(n);
  const childCounts = new Uint32Array(n);
  for (let at = 0, end = 1; at < n; at++) {
    const [from, to] = [firstChild[order[at]], firstChild[order[at] + 1]];
    for (let child = from; child < to; child++) order[end + child - from] = child;
    sortByWidth(order, end, end + to - from, width);
    childCounts[at] = to - from;
    end += to - from;
  }
  const picked = (column) => column && reordered(column, order);
  return { header, n, strings, childCounts, names: picked(names), self: picked(self), self2: picked(self2) };
}

function widthsOf(header, parent, self, self2) {
  const own = ownWidths(header, self, self2);
  const width = own === self ? self.slice() : own;
  for (let i = width.length - 1; i > 0; i--) width[parent[i]] += width[i];
  return width;
}

// Children stand side by side and in the order of their parents.
function firstChildren(parent, n) {
  const first = new Uint32Array(n + 1).fill(n);
  for (let child = 1, node = 0; node < n; node++) {
    first[node] = child;
    while (child < n && parent[child] === node) child++;
  }
  return first;
}

function reordered(column, order) {
  const out = new column.constructor(order.length);
  for (let i = 0; i < order.length; i++) out[i] = column[order[i]];
  return out;
}

const FEW = 16;

function sortByWidth(nodes, from, to, width) {
  if (to - from > FEW) {
    nodes.subarray(from, to).sort((a, b) => width[b] - width[a] || a - b);
    return;
  }
  for (let i = from + 1; i < to; i++) {
    const node = nodes[i];
    let k = i;
    for (; k > from && width[nodes[k - 1]] < width[node]; k--) nodes[k] = nodes[k - 1];
    nodes[k] = node;
  }
}
