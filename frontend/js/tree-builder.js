// Grows a tree by parent and name, and turns it into columns in level order, the widest child first.
import { ownWidths } from "./layout.js";

const FIRST_SIZE = 1024; // nodes; room doubles when it is full

/** An empty tree with its root, node 0. `isDiff` says whether nodes have a second value. */
export function treeBuilder({ isDiff = false } = {}) {
  let room = FIRST_SIZE;
  let parent = new Int32Array(room).fill(-1);
  let name = new Uint32Array(room);
  let self = new Float64Array(room);
  let self2 = isDiff ? new Float64Array(room) : null;
  let slots = new Int32Array(4 * room).fill(-1); // of an open-addressing table of (parent, name)
  let n = 1;

  function slotOf(parentNode, nameId) {
    const mask = slots.length - 1;
    let slot = (Math.imul(parentNode, 0x9e3779b1) ^ Math.imul(nameId + 1, 0x85ebca6b)) >>> 0;
    slot = (slot ^ (slot >>> 15)) & mask;
    for (let node = slots[slot]; node >= 0; node = slots[slot]) {
      if (parent[node] === parentNode && name[node] === nameId) break;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  function grow() {
    room *= 2;
    parent = copied(parent, new Int32Array(room).fill(-1));
    name = copied(name, new Uint32Array(room));
    self = copied(self, new Float64Array(room));
    self2 &&= copied(self2, new Float64Array(room));
    slots = new Int32Array(4 * room).fill(-1);
    for (let node = 1; node < n; node++) slots[slotOf(parent[node], name[node])] = node;
  }

  return {
    /** The child of that name, made if there is none; a child has a higher number than its parent. */
    child(parentNode, nameId) {
      let slot = slotOf(parentNode, nameId);
      if (slots[slot] >= 0) return slots[slot];
      if (n === room) {
        grow();
        slot = slotOf(parentNode, nameId);
      }
      slots[slot] = n;
      parent[n] = parentNode;
      name[n] = nameId;
      return n++;
    },
    add(node, value, value2) {
      self[node] += value;
      if (self2) self2[node] += value2;
    },
    parentOf: (node) => parent[node],
    nameOf: (node) => name[node],
    count: () => n,
    /** Columns of what has grown, with this header and these names. */
    columns(header, strings) {
      const cut = (column) => column && column.subarray(0, n);
      const grown = { header, n, parent: cut(parent), names: cut(name), self: cut(self), self2: cut(self2) };
      return inLevelOrder(grown, strings);
    },
  };
}

function copied(from, to) {
  to.set(from);
  return to;
}

function inLevelOrder({ header, n, parent, names, self, self2 }, strings) {
  const widths = ownWidths(header, self, self2);
  const width = widths === self ? Float64Array.from(self) : widths;
  for (let i = n - 1; i > 0; i--) width[parent[i]] += width[i];
  const { children, first } = childrenOf(parent, n);
  const order = new Uint32Array(n);
  const childCounts = new Uint32Array(n);
  for (let at = 0, end = 1; at < n; at++) {
    const node = order[at];
    const [from, to] = [first[node], first[node + 1]];
    sortByWidth(children, from, to, width);
    childCounts[at] = to - from;
    for (let k = from; k < to; k++) order[end++] = children[k];
  }
  const picked = (column) => column && reordered(column, order);
  return { header, n, strings, childCounts, names: picked(names), self: picked(self), self2: picked(self2) };
}

function reordered(column, order) {
  const out = new column.constructor(order.length);
  for (let i = 0; i < order.length; i++) out[i] = column[order[i]];
  return out;
}

function childrenOf(parent, n) {
  const first = new Uint32Array(n + 2);
  for (let i = 1; i < n; i++) first[parent[i] + 2]++;
  for (let i = 2; i < n + 2; i++) first[i] += first[i - 1];
  const children = new Uint32Array(n);
  for (let i = 1; i < n; i++) children[first[parent[i] + 1]++] = i;
  return { children, first };
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
