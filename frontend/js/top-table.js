// Adds a tree up by function: what it holds itself, and with all that it called; recursion counts once.
import { self2Of, selfOf } from "./layout.js";
import { nestedFrames } from "./nesting.js";

/** Columns by name id: self, total, count of frames; self2 and total2 too for a difference. */
export function functionValues(tree) {
  const size = tree.strings.length;
  const column = () => new Float64Array(size);
  const values = { self: column(), total: column(), frames: new Uint32Array(size), self2: null, total2: null };
  if (tree.total2) Object.assign(values, { self2: column(), total2: column() });
  addSelf(tree, values);
  addTotals(tree, values);
  return values;
}

function addSelf(tree, values) {
  for (let i = 1; i < tree.n; i++) {
    const name = tree.names[i];
    values.frames[name]++;
    values.self[name] += selfOf(tree, i);
    if (values.self2) values.self2[name] += self2Of(tree, i);
  }
}

// A frame under another of its name adds nothing.
function addTotals(tree, values) {
  const { names, total, total2 } = tree;
  const isNested = nestedFrames(tree);
  for (let i = 1; i < tree.n; i++) {
    if (isNested[i]) continue;
    values.total[names[i]] += total[i];
    if (total2) values.total2[names[i]] += total2[i];
  }
}

/** Rows {id, name, self, total, frames} of the functions that have frames; a difference has selfAfter, totalAfter and changes. */
export function functionRows(strings, values) {
  const rows = [];
  for (let id = 0; id < strings.length; id++) {
    if (values.frames[id] > 0)
      rows.push(values.total2 ? changeRow(strings, values, id) : valueRow(strings, values, id));
  }
  return rows;
}

const valueRow = (strings, { self, total, frames }, id) => ({
  id,
  name: strings[id],
  self: self[id],
  total: total[id],
  frames: frames[id],
});

function changeRow(strings, values, id) {
  const row = valueRow(strings, values, id);
  const [selfAfter, totalAfter] = [values.self2[id], values.total2[id]];
  return { ...row, selfAfter, totalAfter, selfChange: selfAfter - row.self, totalChange: totalAfter - row.total };
}

/** Rows whose name has all words typed and that `isKept` lets pass, sorted by a column; `-` before it turns the order round. */
export function arrangeRows(rows, { filter = "", sort = "-self", isKept = null } = {}) {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const isNamed = ({ name }) => words.every((word) => name.toLowerCase().includes(word));
  const kept = rows.filter((row) => isNamed(row) && (!isKept || isKept(row)));
  const key = sort.replace(/^[-~]/, "");
  const by = key === "name" ? (a, b) => compareNames(a.name, b.name) : (a, b) => a[key] - b[key];
  const sign = sort.startsWith("-") ? -1 : 1;
  return kept.sort((a, b) => sign * by(a, b) || b.total - a.total || compareNames(a.name, b.name));
}

const compareNames = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
