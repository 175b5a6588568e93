// The file's columns to a tree with places and totals, and what a search finds in it. Nothing here touches the document.
const CHANGE_STEPS = [0.05, 0.25, 0.5, 0.8];
const MAX_PATTERN = 2000;

/** Frames stand level by level, children side by side: each row of the picture is one range of frames. */
function layout(data) {
  const n = data.name.length;
  const parent = new Int32Array(n);
  const depth = new Int32Array(n);
  const rows = [0];
  for (let i = 0, next = 1; i < n; i++)
    for (const end = next + data.children[i]; next < end; next++) {
      parent[next] = i;
      depth[next] = depth[i] + 1;
      if (depth[next] === rows.length) rows.push(next);
    }
  const width = addUp(data.width ?? data.self, parent);
  const tree = { data, n, parent, depth, rows: [...rows, n], width };
  tree.totals = [data.self, ...(data.after ? [data.after] : [])].map((column) => addUp(column, parent));
  tree.start = starts(tree);
  return tree;
}

function addUp(selfs, parent) {
  const total = Float64Array.from(selfs);
  for (let i = total.length - 1; i > 0; i--) total[parent[i]] += total[i];
  return total;
}

function starts({ n, parent, width }) {
  const start = new Float64Array(n);
  const filled = new Float64Array(n); // of a parent's width, by the children before
  for (let i = 1; i < n; i++) {
    start[i] = start[parent[i]] + filled[parent[i]];
    filled[parent[i]] += width[i];
  }
  return start;
}

const nameOf = ({ data }, i) => (i ? data.names[data.name[i]] : "all");

/** The frame of a row whose left edge is nearest to a place. */
function frameAt({ rows, start }, row, place) {
  if (!(row >= 0 && row < rows.length - 1)) return 0;
  let [low, high] = [rows[row], rows[row + 1] - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (start[middle] < place) low = middle + 1;
    else high = middle;
  }
  return low > rows[row] && place - start[low - 1] < start[low] - place ? low - 1 : low;
}

/** What is seen of a tree between two places: frames to draw, and how many are too narrow, with their sum. */
function visible(tree, from, to, pxPerUnit, minWidth) {
  const { rows, start, width, parent } = tree;
  const shown = [];
  const hidden = { frames: 0, amount: 0 };
  const isDrawn = new Uint8Array(tree.n);
  for (let row = 0; row < rows.length - 1; row++)
    for (let i = firstAfter(tree, row, from); i < rows[row + 1] && start[i] < to; i++) {
      if (width[i] * pxPerUnit >= minWidth && width[i] > 0) {
        isDrawn[i] = 1;
        shown.push(i);
        continue;
      }
      hidden.frames++;
      if (isDrawn[parent[i]]) hidden.amount += width[i];
    }
  return { shown, hidden };
}

// Frames of a row stand from left to right, so both their edges rise.
function firstAfter({ rows, start, width }, row, from) {
  let [low, high] = [rows[row], rows[row + 1]];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (start[middle] + width[middle] > from) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** `m1` to `m8` of a name, as on the site. */
function nameClass(name) {
  let hash = 2166136261;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 16777619);
  return `m${Math.floor(((hash >>> 0) / 4294967296) * 8) + 1}`;
}

function colourOf(tree, i) {
  if (i === 0) return "root";
  if (tree.totals.length === 1) return nameClass(nameOf(tree, i));
  const [before, after] = tree.totals.map((total) => total[i]);
  const share = tree.width[i] > 0 ? Math.abs(after - before) / tree.width[i] : 0;
  const step = CHANGE_STEPS.filter((least) => share >= least - 1e-12).length;
  return `${after > before && step ? "u" : "d"}${step}`;
}

function hatchOf({ totals }, i) {
  const [before, after] = totals.map((total) => total[i]);
  if (after === undefined) return before < 0 ? "new" : "";
  if (before === 0 && after !== 0) return "new";
  return after === 0 && before !== 0 ? "gone" : "";
}

/** The line below a name in its tooltip, and what stands on the frame. */
function factsOf(tree, i) {
  const { unit, isSigned } = tree.data;
  const [before, after] = tree.totals.map((total) => total[i]);
  if (after !== undefined) {
    const moved = after === before ? "none" : `${changeWords(after - before, unit)}, ${ofOwnWords(before, after)}`;
    return `before ${valueWords(before, unit)}, after ${valueWords(after, unit)}; change ${moved}`;
  }
  const share = percentWords(tree.width[0] ? tree.width[i] / tree.width[0] : 0);
  const [word, all] = isSigned ? ["net", "of all movement"] : ["total", "of all"];
  return `${word} ${valueWords(before, unit)}, ${share} ${all}; self ${valueWords(tree.data.self[i], unit)}`;
}

function shortOf(tree, i) {
  const [before, after] = tree.totals.map((total) => total[i]);
  if (after === undefined) return valueWords(before, tree.data.unit);
  return after === before ? "=" : changeWords(after - before, tree.data.unit);
}

/** An expression, or the text itself where it is none; null for no text. */
function patternOf(text) {
  if (!text || text.length > MAX_PATTERN) return null;
  try {
    return new RegExp(text);
  } catch {
    return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  }
}

/** Frames whose name matches. A match below another one adds nothing to the sums. */
function search(tree, pattern) {
  const { data, n, parent, width, totals } = tree;
  const isMatch = data.names.map((name) => pattern.test(name));
  const isInside = new Uint8Array(n);
  const found = { hits: new Uint8Array(n), frames: 0, width: 0, totals: totals.map(() => 0) };
  for (let i = 1; i < n; i++) {
    const isHit = isMatch[data.name[i]];
    if (isHit) {
      found.hits[i] = 1;
      found.frames++;
    }
    isInside[i] = isInside[parent[i]] || isHit ? 1 : 0;
    if (!isHit || isInside[parent[i]]) continue;
    found.width += width[i];
    totals.forEach((total, side) => (found.totals[side] += total[i]));
  }
  return found;
}

/** "Matched 42.0 %, 1.2 MB in 7 frames". Frames that the file does not hold make it a range. */
function foundWords(tree, found) {
  const { unit, absent } = tree.data;
  const all = tree.width[0] || 1;
  const most = Math.min(1, (found.width + absent.amount) / all);
  const range = absent.frames ? ` to ${percentWords(most)}` : "";
  const [before, after] = found.totals;
  const amount = after === undefined ? valueWords(before, unit) : changeWords(after - before, unit);
  return `Matched ${percentWords(found.width / all)}${range}, ${amount} in ${framesWords(found.frames)}`;
}
