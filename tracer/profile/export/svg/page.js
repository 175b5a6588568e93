// Draws the visible part of the tree into the picture, and follows mouse, keys and address.
const SVG = "http://www.w3.org/2000/svg";
const [MARGIN, TOP, ROW, LABEL_FROM, VALUE_FROM, MAX_TITLE] = [16, 62, 18, 28, 200, 2000];
const [CONTROLS, FONT_PX] = [220, 12];

const svg = document.currentScript.ownerSVGElement;
const one = (selector) => svg.querySelector(selector);
const tree = layout(JSON.parse(one("script[type='application/json']").textContent));
const { data } = tree;
const hint = one(".details").textContent;
// A picture that stands alone fills its window; inside a page it keeps its size.
const isAlone = svg === document.documentElement;
const view = { focus: 0, found: null, text: "", width: data.baseWidth };
const measure = measurer();
const controls = makeControls();

fit();
readAddress();
draw();

function fit() {
  if (isAlone) view.width = Math.max(480, innerWidth);
  svg.setAttribute("width", view.width);
}

/** Names of elements and attributes are ours; words come in as text only. */
function made(tag, attributes, words = "") {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (words) element.textContent = words;
  return element;
}

function draw() {
  const room = view.width - 2 * MARGIN;
  const [from, amount] = [tree.start[view.focus], tree.width[view.focus] || 1];
  const scale = room / amount;
  const { shown, hidden } = visible(tree, from, from + amount, scale, data.minWidth);
  if (!tree.width[0]) shown.push(0); // all values are 0: the root alone
  const rows = shown.reduce((most, i) => Math.max(most, tree.depth[i] + 1), 1);
  const frames = shown.map((i) => frame(i, boxOf(i, from, scale, rows)));
  one(".frames").replaceChildren(...frames);
  placeBelow(rows);
  one(".hidden-frames").textContent = hiddenWords(hidden);
  controls.reset.classList.toggle("hidden", view.focus === 0);
  controls.place();
}

function boxOf(i, from, scale, rows) {
  const left = Math.max(0, (tree.start[i] - from) * scale);
  const room = view.width - 2 * MARGIN;
  const right = i ? Math.min(room, (tree.start[i] + tree.width[i] - from) * scale) : room;
  const row = data.isIcicle ? tree.depth[i] : rows - 1 - tree.depth[i];
  const width = right - left;
  return { x: MARGIN + left, y: TOP + row * ROW, width, drawn: Math.max(0.1, width - (width > 3 ? 1 : 0)) };
}

function frame(i, { x, y, width, drawn }) {
  const isAbove = tree.depth[i] < tree.depth[view.focus];
  const group = made("g", { class: isAbove ? "f above" : "f", "data-i": i });
  const box = { x: x.toFixed(2), y, width: drawn.toFixed(2), height: ROW - 1 };
  const name = nameOf(tree, i);
  const hatch = hatchOf(tree, i);
  const isHit = view.found?.hits[i];
  group.append(
    made("title", {}, `${name.slice(0, MAX_TITLE)}\n${factsOf(tree, i)}`),
    made("rect", { class: isHit ? "hit" : colourOf(tree, i), ...box }),
  );
  if (hatch) group.append(made("rect", { class: "mark", fill: `url(#${hatch})`, ...box }));
  if (width >= LABEL_FROM) group.append(...labels(i, name, x, y + ROW - 6, width));
  return group;
}

function labels(i, name, x, y, width) {
  let room = width - 12;
  const found = [];
  if (width >= VALUE_FROM) {
    const words = shortOf(tree, i);
    found.push(made("text", { class: "value", x: (x + width - 7).toFixed(2), y }, words));
    room -= measure(words) + 12;
  }
  const words = fitting(name, room);
  return words ? [made("text", { x: (x + 6).toFixed(2), y }, words), ...found] : found;
}

/** The name, or as much of its beginning as there is room for. */
function fitting(name, room) {
  if (name.length * FONT_PX < room || measure(name) <= room) return name;
  let [low, high] = [0, Math.min(name.length, Math.ceil(room / 2))];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (measure(`${name.slice(0, middle)}…`) <= room) low = middle;
    else high = middle - 1;
  }
  return low > 1 ? `${name.slice(0, low)}…` : "";
}

function measurer() {
  const context = document.createElementNS("http://www.w3.org/1999/xhtml", "canvas").getContext("2d");
  const { fontSize, fontFamily } = getComputedStyle(one(".details"));
  context.font = `${fontSize} ${fontFamily}`;
  return (words) => context.measureText(words).width;
}

function placeBelow(rows) {
  const bottom = TOP + rows * ROW;
  one(".details").setAttribute("y", bottom + 16);
  one(".hidden-frames").setAttribute("y", bottom + 34);
  one(".legend")?.setAttribute("transform", `translate(0 ${(rows - data.baseRows) * ROW})`);
  const height = bottom + 64;
  svg.setAttribute("height", height);
  svg.setAttribute("viewBox", `0 0 ${view.width} ${height}`);
}

function hiddenWords({ frames, amount }) {
  if (!frames) return `No frame is hidden.${data.absent.words}`;
  const words = `${framesWords(frames)} narrower than ${data.minWidth} px: ${valueWords(amount, data.unit)} together`;
  return `${words}, not drawn; zoom in to see them.${data.absent.words}`;
}

function makeControls() {
  const reset = made("text", { class: "button hidden", y: 28 }, "Reset zoom");
  const matched = made("text", { class: "quiet matched value", y: 48 });
  const holder = made("foreignObject", { y: 10, width: CONTROLS, height: 28 });
  const field = document.createElementNS("http://www.w3.org/1999/xhtml", "input");
  for (const [name, value] of [["class", "field"], ["type", "search"], ["placeholder", "Search by expression"]])
    field.setAttribute(name, value);
  field.setAttribute("aria-label", "Search frames");
  holder.append(field);
  svg.append(reset, matched, holder);
  reset.addEventListener("click", () => zoom(0));
  field.addEventListener("input", () => find(field.value));
  return {
    reset,
    field,
    matched,
    place() {
      holder.setAttribute("x", view.width - MARGIN - CONTROLS);
      reset.setAttribute("x", view.width - MARGIN - CONTROLS - 84);
      matched.setAttribute("x", view.width - MARGIN);
      one(".summary").classList.toggle("hidden", isCrowded());
    },
  };
}

// The subtitle gives way to what was found where there is no room for both.
function isCrowded() {
  const words = [one(".summary"), controls.matched].map((text) => measure(text.textContent));
  return controls.matched.textContent !== "" && words[0] + words[1] + 3 * MARGIN > view.width;
}

function zoom(i) {
  view.focus = i;
  draw();
  writeAddress();
}

function find(text) {
  view.text = text;
  const pattern = patternOf(text);
  view.found = pattern ? search(tree, pattern) : null;
  controls.matched.textContent = view.found ? foundWords(tree, view.found) : "";
  draw();
  writeAddress();
}

// As people know it from other flame graphs: x and y are those of the zoomed frame in the picture as it was written.
function readAddress() {
  const fields = new URLSearchParams(location.search || location.hash.slice(1));
  const [x, y] = ["x", "y"].map((name) => Number.parseFloat(fields.get(name)));
  if (Number.isFinite(x) && Number.isFinite(y)) {
    const row = Math.round((y - TOP) / ROW);
    const place = ((x - MARGIN) / (data.baseWidth - 2 * MARGIN)) * tree.width[0];
    view.focus = frameAt(tree, data.isIcicle ? row : data.baseRows - 1 - row, place);
  }
  const text = fields.get("s") ?? "";
  controls.field.value = text;
  if (text) find(text);
}

function writeAddress() {
  const fields = [];
  if (view.focus) {
    const x = MARGIN + (tree.start[view.focus] / (tree.width[0] || 1)) * (data.baseWidth - 2 * MARGIN);
    const row = data.isIcicle ? tree.depth[view.focus] : data.baseRows - 1 - tree.depth[view.focus];
    fields.push(`x=${Number(x.toFixed(6))}`, `y=${TOP + row * ROW}`);
  }
  if (view.text) fields.push(`s=${encodeURIComponent(view.text)}`);
  try {
    history.replaceState(null, "", fields.length ? `?${fields.join("&")}` : location.pathname);
  } catch {
    // Some browsers forbid it for files; the picture works without.
  }
}

const frameOf = (event) => {
  const group = event.target.closest?.(".f");
  return group ? Number(group.dataset.i) : -1;
};

svg.addEventListener("click", (event) => {
  const i = frameOf(event);
  if (i >= 0) zoom(i);
});
svg.addEventListener("mouseover", (event) => {
  const i = frameOf(event);
  one(".details").textContent = i >= 0 ? `${nameOf(tree, i)}: ${factsOf(tree, i)}` : hint;
});
addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "f" && document.activeElement !== controls.field) {
    event.preventDefault(); // a second time the browser's own search opens
    controls.field.focus();
    controls.field.select();
  } else if (event.key === "Escape") {
    controls.field.value = "";
    view.focus = 0;
    find("");
  }
});
addEventListener("resize", () => {
  fit();
  draw();
});
