// Tells what became of each stack of a difference: new, gone, grown, shrunk or the same; and where growth and shrinkage meet.

/** By name as an address has it: the words of a step that keeps nothing else. */
export const CHANGES = {
  new: "only new paths",
  gone: "only paths that are gone",
  grown: "only what grew",
  shrunk: "only what shrank",
  same: "only what stayed the same",
  mixed: "only where growth and shrinkage meet",
};
const CODES = ["", "new", "gone", "grown", "shrunk", "same"];
const codeOf = (name) => CODES.indexOf(name);
/** In a tree of nothing but these, a value of 0 does not tell that a path is on one side only. */
export const HAS_BOTH_SIDES = ["grown", "shrunk", "same"];

/** Did some of it grow while some of it shrank, both by at least a hundredth of what moved? */
export function isMixed({ grew, shrank }, node) {
  const [less, more] = [grew[node], shrank[node]].sort((a, b) => a - b);
  return less > 0 && less >= more / 100;
}

/** A code for each node of columns with parents, by what it holds itself; 0 for those that hold nothing on either side. */
export function changeCodes({ n, parent, self, self2 }) {
  const totals = [added(self, parent), added(self2, parent)];
  const codes = new Uint8Array(n);
  for (let i = 0; i < n; i++)
    if (self[i] !== 0 || self2[i] !== 0) codes[i] = codeOf(kindOf(totals[0][i], totals[1][i], self2[i] - self[i]));
  return codes;
}

function kindOf(before, after, change) {
  if (before === 0 && after !== 0) return "new";
  if (after === 0 && before !== 0) return "gone";
  if (change === 0) return "same";
  return change > 0 ? "grown" : "shrunk";
}

function added(column, parent) {
  const total = Float64Array.from(column);
  for (let i = total.length - 1; i > 0; i--) total[parent[i]] += total[i];
  return total;
}

/** Nodes to keep so that only stacks of one kind are left, one byte each. */
export function nodesOfChange(stacks, what) {
  if (what === "mixed") return inside(stacks, meetings(stacks).isMeeting);
  const code = codeOf(what);
  return changeCodes(stacks).map((each) => (each === code ? 1 : 0));
}

// The deepest frames in which some grew and some shrank: the root nearly always is such a frame.
function meetings({ n, parent, self, self2 }) {
  const grew = new Float64Array(n);
  const shrank = new Float64Array(n);
  const isMeeting = new Uint8Array(n);
  const hasMeeting = new Uint8Array(n);
  for (let i = n - 1; i >= 0; i--) {
    const change = self2[i] - self[i];
    if (change > 0) grew[i] += change;
    else shrank[i] -= change;
    isMeeting[i] = !hasMeeting[i] && isMixed({ grew, shrank }, i) ? 1 : 0;
    if (i === 0) continue;
    grew[parent[i]] += grew[i];
    shrank[parent[i]] += shrank[i];
    hasMeeting[parent[i]] |= hasMeeting[i] | isMeeting[i];
  }
  return { isMeeting, grew, shrank };
}

function inside({ n, parent }, isTop) {
  const flags = Uint8Array.from(isTop);
  for (let i = 1; i < n; i++) flags[i] |= flags[parent[i]];
  return flags;
}

/**
 * By kind {count, change}, and for mixed {count, grew, shrank}. New and gone paths count once, at their uppermost frame, all
 * others where they end. Unless values are negative, changes of the five kinds add up to that of the whole.
 */
export function changeSums(stacks) {
  const { n, parent, self, self2 } = stacks;
  const codes = changeCodes(stacks);
  const sums = CODES.map(() => ({ count: 0, change: 0 }));
  for (let i = 0; i < n; i++) if (codes[i] > codeOf("gone")) count(sums[codes[i]], self2[i] - self[i]);
  const [before, after] = [added(self, parent), added(self2, parent)];
  const side = (i) => (i > 0 ? codeOf(kindOf(before[i], after[i], 0)) : 0);
  for (let i = 1; i < n; i++) {
    const code = side(i);
    if ((code === codeOf("new") || code === codeOf("gone")) && side(parent[i]) !== code)
      count(sums[code], after[i] - before[i]);
  }
  return { ...Object.fromEntries(CODES.slice(1).map((kind, i) => [kind, sums[i + 1]])), mixed: mixedSum(stacks) };
}

function count(sum, change) {
  sum.count++;
  sum.change += change;
}

function mixedSum(stacks) {
  const { isMeeting, grew, shrank } = meetings(stacks);
  const sum = { count: 0, grew: 0, shrank: 0 };
  for (let i = 0; i < stacks.n; i++) {
    if (!isMeeting[i]) continue;
    sum.count++;
    sum.grew += grew[i];
    sum.shrank += shrank[i];
  }
  return sum;
}

/** What became of a function, by its row of the table. */
export function kindOfRow({ total, totalAfter, selfChange }) {
  return kindOf(total, totalAfter, selfChange);
}
