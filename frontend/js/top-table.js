// Adds a tree up by function: what it holds itself, and with all that it called; recursion counts once.
import { addUp } from "./layout.js";
import { nestedFrames } from "./nesting.js";

/** Columns by name id of stacks, as transforms.js has them: self, total, count of frames; self2 and total2 too for a difference. */
export function functionValues(stacks) {
  const isNested = nestedFrames(stacks);
  const { self, total } = addedByName(stacks, stacks.self, isNested);
  const { self: self2, total: total2 } = stacks.self2 ? addedByName(stacks, stacks.self2, isNested) : {};
  return { self, total, frames: framesByName(stacks), self2: self2 ?? null, total2: total2 ?? null };
}

function framesByName({ n, names, strings }) {
  const frames = new Uint32Array(strings.length);
  for (let i = 1; i < n; i++) frames[names[i]]++;
  return frames;
}

// A frame under another of its name adds nothing to the total.
function addedByName({ n, names, strings, parent }, values, isNested) {
  const [self, total] = [new Float64Array(strings.length), new Float64Array(strings.length)];
  const totals = addUp(values.slice(), parent);
  for (let i = 1; i < n; i++) {
    self[names[i]] += values[i];
    if (!isNested[i]) total[names[i]] += totals[i];
  }
  return { self, total };
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
