// What is seen of a graph as a file: an SVG with text and titles, or a PNG; all rows, also those scrolled out of sight.
import { svgElement } from "./dom.js";
import { ROW, rowY } from "./draw-list.js";
import { paint, sizeCanvas } from "./graph-paint.js";
import { nameOf } from "./layout.js";

const HEAD = 48; // pixels for the title and what 100 % is
const MIN_LABEL = 28;
const PADDING = 6;
const MAX_PNG_SIDE = 16_000; // of a canvas in browsers
// XML can't hold these, whatever their escape; a name may.
const ILLEGAL =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const clean = (text) => text.replace(ILLEGAL, "\ufffd");

/** An SVG text of a picture {state, view, list, tokens, measure} as graph-screen.js gives it; `head` are its two lines of words. */
export function svgOf({ state, view, list, tokens, measure }, head) {
  const { tree } = state;
  const svg = svgElement(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      width: view.width,
      height: view.height + HEAD,
      viewBox: `0 0 ${view.width} ${view.height + HEAD}`,
      "font-family": "system-ui, sans-serif",
      "font-size": 12,
    },
    svgElement("rect", { width: "100%", height: "100%", fill: tokens.page }),
    svgElement("text", { x: PADDING, y: 18, fill: tokens.quiet, "font-weight": 600 }, clean(head[0])),
    svgElement("text", { x: PADDING, y: 36, fill: tokens.quiet }, clean(head[1])),
    list.bars.map((bar) => rect(bar.x, rowY(tree, view, bar.row), bar.w, tokens.fills[bar.shade], 0.75)),
    list.frames.map((frame) => frameGroup(frame, { state, view, tokens, measure })),
  );
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(svg)}\n`;
}

const rect = (x, y, width, fill, opacity = 1) =>
  svgElement("rect", { x: round(x), y: y + HEAD, width: round(width), height: ROW - 1, fill, opacity });
const round = (value) => Math.round(value * 100) / 100;

function frameGroup({ node, row, x, w }, { state, view, tokens, measure }) {
  const left = Math.max(0, x);
  const width = Math.max(1, Math.min(view.width, x + w) - left - (w > 3 ? 1 : 0));
  const y = rowY(state.tree, view, row);
  const shade = state.shadeOf(node);
  const name = clean(nameOf(state.tree, node));
  const label = width >= MIN_LABEL ? measure.fit(name, width - 2 * PADDING).text : "";
  return svgElement(
    "g",
    {},
    svgElement("title", {}, clean(state.words.spoken(node, state.focus))),
    rect(left, y, width, tokens.fills[shade], state.faded.has(node) ? tokens.fadedAlpha : 1),
    label ? svgElement("text", { x: round(left + PADDING), y: y + HEAD + 14, fill: tokens.inks[shade] }, label) : null,
  );
}

/** A promise of a PNG; a graph too high for one canvas is cut at its lower end. */
export function pngOf({ state, view, list, tokens, measure }, pixelRatio) {
  const canvas = document.createElement("canvas");
  const height = Math.min(view.height, Math.floor(MAX_PNG_SIDE / pixelRatio));
  sizeCanvas(canvas, view.width, height, pixelRatio);
  const context = canvas.getContext("2d");
  context.setTransform(pixelRatio, 0, 0, pixelRatio, 0, 0);
  paint(context, { ...state, view, list, measure, pixelRatio }, tokens);
  context.globalCompositeOperation = "destination-over";
  context.fillStyle = tokens.page;
  context.fillRect(0, 0, view.width, height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}
