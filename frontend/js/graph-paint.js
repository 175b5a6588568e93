// Paints what is seen of a tree on a canvas: thin bars, frames by colour, hatches, then labels.
import { isMixed } from "./change-kinds.js";
import { sideOf } from "./diff.js";
import { ROW, rowY } from "./draw-list.js";
import { SHADE_MATCH } from "./graph-colours.js";
import { nameOf } from "./layout.js";

const HEIGHT = ROW - 1;
const GAP_FROM = 3; // pixels of width from which a frame leaves a gap to its right, and has a border where one is wanted
const PADDING = 6;
const MIN_LABEL = 28;
const VALUE_FROM = 132;
const VALUE_ALWAYS_FROM = 240;
const BAR_ALPHA = 0.75;

/** `picture` has tree, view, list, shadeOf, words, measure, moved (of a difference) and `faded`: ancestors of the zoomed frame. */
export function paint(context, picture, tokens) {
  const { view, list } = picture;
  context.clearRect(0, 0, view.width, view.height);
  paintBars(context, picture, tokens);
  const boxes = list.frames.map((frame) => boxOf(frame, picture));
  paintFills(context, boxes, picture, tokens);
  for (const box of boxes) paintMarks(context, box, picture, tokens);
  if (tokens.border) paintBorders(context, boxes, tokens);
  context.font = tokens.font;
  context.textBaseline = "middle";
  for (const box of boxes) if (box.w >= MIN_LABEL) paintLabel(context, box, picture, tokens);
}

function boxOf({ node, row, x, w }, { tree, view, shadeOf, faded, pixelRatio }) {
  const snap = (value) => Math.round(value * pixelRatio) / pixelRatio;
  const left = Math.max(0, snap(x));
  const right = Math.min(view.width, snap(x + w));
  const gap = w > GAP_FROM && right < view.width ? sharpLine(pixelRatio) : 0;
  return {
    node,
    shade: shadeOf(node),
    isFaded: faded.has(node),
    x: left,
    w: Math.max(1, right - left - gap),
    y: rowY(tree, view, row),
  };
}

// The width of a line of about a pixel that is whole pixels of the screen.
const sharpLine = (pixelRatio) => Math.max(1, Math.round(pixelRatio)) / pixelRatio;

function paintBars(context, { tree, view, list }, { fills }) {
  context.globalAlpha = BAR_ALPHA;
  const byShade = fills.map(() => []);
  for (const bar of list.bars) byShade[bar.shade].push(bar);
  byShade.forEach((bars, shade) => {
    context.fillStyle = fills[shade];
    for (const { row, x, w } of bars) context.fillRect(x, rowY(tree, view, row), w, HEIGHT);
  });
  context.globalAlpha = 1;
}

// One colour after the other: changing it is what costs.
function paintFills(context, boxes, _, { fills, fadedAlpha }) {
  const byShade = [...boxes].sort((a, b) => a.isFaded - b.isFaded || a.shade - b.shade);
  for (const { shade, isFaded, x, y, w } of byShade) {
    context.globalAlpha = isFaded ? fadedAlpha : 1;
    context.fillStyle = fills[shade];
    context.fillRect(x, y, w, HEIGHT);
  }
  context.globalAlpha = 1;
}

function paintMarks(context, box, { tree, moved, plateaus }, tokens) {
  if (plateaus?.[box.node]) paintPlateau(context, box, tokens);
  const side = tree.total2 ? sideOf(tree, box.node) : tree.total[box.node] < 0 ? "negative" : "";
  if (side) paintHatch(context, box, side === "gone", tokens);
  if (moved && box.node > 0 && box.w > 12 && isMixed(moved, box.node)) paintStrip(context, box, moved, tokens);
}

// Two colours of neighbours may be nearly one: who asks for more contrast, or has the system's colours, gets lines.
function paintBorders(context, boxes, { border }) {
  context.strokeStyle = border;
  context.lineWidth = 1;
  for (const { x, y, w } of boxes) if (w > GAP_FROM) context.strokeRect(x + 0.5, y + 0.5, w - 1, HEIGHT - 1);
}

// A line along the lower edge, of the ink that can be read there.
function paintPlateau(context, { x, y, w, shade }, { inks }) {
  context.fillStyle = inks[shade];
  context.fillRect(x, y + HEIGHT - 3, w, 3);
}

function paintHatch(context, { x, y, w, shade }, isBack, { inks }) {
  context.save();
  context.beginPath();
  context.rect(x, y, w, HEIGHT);
  context.clip();
  context.strokeStyle = inks[shade];
  context.globalAlpha = 0.34;
  context.lineWidth = 1.5;
  context.beginPath();
  for (let at = Math.floor(x / 6) * 6 - ROW; at < x + w + ROW; at += 6) {
    context.moveTo(at, isBack ? y : y + HEIGHT);
    context.lineTo(at + HEIGHT, isBack ? y + HEIGHT : y);
  }
  context.stroke();
  context.restore();
}

function paintStrip(context, { node, x, y, w }, { grew, shrank }, tokens) {
  const grown = (grew[node] / (grew[node] + shrank[node])) * w;
  context.fillStyle = tokens.grew;
  context.fillRect(x, y + HEIGHT - 3, grown, 3);
  context.fillStyle = tokens.shrank;
  context.fillRect(x + grown, y + HEIGHT - 3, w - grown, 3);
}

function paintLabel(context, box, picture, tokens) {
  const { tree, measure, words } = picture;
  const name = nameOf(tree, box.node);
  const ink = (box.isFaded && box.shade !== SHADE_MATCH ? tokens.fadedInks : tokens.inks)[box.shade];
  let room = box.w - 2 * PADDING;
  if (box.w >= VALUE_FROM) {
    const value = words.short(box.node);
    const width = measure.width(value);
    if (box.w >= VALUE_ALWAYS_FROM || measure.fits(name, room - width - 16)) {
      writeText(context, value, box.x + box.w - PADDING - width, width, box, picture, tokens, ink);
      room -= width + 16;
    }
  }
  const { text, width } = measure.fit(name, room);
  if (text) writeText(context, text, box.x + PADDING, width, box, picture, tokens, ink);
}

// On a hatch the text gets a plate, so that its contrast stays that of the fill.
function writeText(context, text, x, width, box, { tree }, tokens, ink) {
  const isHatched = tree.total2 ? sideOf(tree, box.node) !== "" : tree.total[box.node] < 0;
  if (isHatched) {
    context.fillStyle = tokens.fills[box.shade];
    context.fillRect(x - 3, box.y + 2, width + 6, HEIGHT - 4);
  }
  context.fillStyle = ink;
  context.fillText(text, x, box.y + HEIGHT / 2 + 0.5);
}

/** The whole width in eight pixels: matches as ticks, and where the view is. */
export function paintMinimap(context, { width, ticks, from, to, isZoomed }, tokens) {
  context.clearRect(0, 0, width, 8);
  context.fillStyle = tokens.track;
  context.fillRect(0, 3, width, 2);
  context.fillStyle = tokens.quiet;
  if (isZoomed) context.fillRect(from, 2, Math.max(2, to - from), 4);
  context.fillStyle = tokens.match;
  for (const [start, end] of ticks) context.fillRect(start, 0, end - start, 8);
}

/** Sizes a canvas to its box in device pixels; true when that changed it, which also cleared it. */
export function sizeCanvas(canvas, width, height, pixelRatio) {
  const [w, h] = [Math.round(width * pixelRatio), Math.round(height * pixelRatio)];
  if (canvas.width === w && canvas.height === h) return false;
  canvas.width = w;
  canvas.height = h;
  canvas.style.height = `${height}px`;
  return true;
}
