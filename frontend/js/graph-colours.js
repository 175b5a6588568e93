// Reads the colours of the graph from the page's tokens, and gives each frame its shade.
import { CHANGE_STEPS, MEMORY_STEPS, changeStep, mixColours, nameStep, parseColour, readableInk } from "./palette.js";

export const SHADE_ROOT = 0;
export const SHADE_MATCH = MEMORY_STEPS + 1;
const SHADE_SAME = SHADE_MATCH + 1;
const SHADE_UP = SHADE_SAME;
const SHADE_DOWN = SHADE_UP + CHANGE_STEPS.length;
const FADED = 0.55;

/** Colours by shade with the ink that can be read on each, in the theme that the page has now. */
export function readTokens(host) {
  const read = tokenReader(host);
  const inks = ["--frame-ink", "--frame-ink-alt"].map((name) => parseColour(read(name)));
  const page = parseColour(read("--page"));
  const fills = shadeNames().map(read);
  const inkOn = (colour) => cssOf(readableInk(colour, inks));
  const solid = fills.map((fill) => inkOn(parseColour(fill)));
  solid[SHADE_MATCH] = read("--frame-match-ink");
  return {
    fills,
    inks: solid,
    fadedInks: fills.map((fill) => inkOn(mixColours(parseColour(fill), page, FADED))),
    fadedAlpha: FADED,
    page: read("--page"),
    track: read("--frame-muted"),
    quiet: read("--ink-2"),
    match: read("--frame-match"),
    hatch: read("--hatch"),
    grew: read("--up-4"),
    shrank: read("--down-4"),
    font: `12px ${getComputedStyle(host).getPropertyValue("--font-ui")}`,
  };
}

function shadeNames() {
  const steps = (name, count) => Array.from({ length: count }, (_, i) => `--${name}-${i + 1}`);
  return [
    "--frame-root",
    ...steps("mem", MEMORY_STEPS),
    "--frame-match",
    "--diff-0",
    ...steps("up", CHANGE_STEPS.length),
    ...steps("down", CHANGE_STEPS.length),
  ];
}

// A custom property reads back as it was written, light-dark() and all; only a real property is computed to a colour.
function tokenReader(host) {
  return (name) => {
    const probe = document.createElement("i");
    probe.style.color = `var(${name})`;
    host.append(probe);
    const colour = getComputedStyle(probe).color;
    probe.remove();
    return colour;
  };
}

const cssOf = (colour) => `rgb(${colour.map(Math.round).join(", ")})`;

/** The shade of each node of a tree: by name, or by change. What it works out it keeps, so ask once for a tree. */
export function ownShades(tree) {
  const shadeOf = tree.total2 ? changeShade(tree) : nameShade(tree);
  return (node) => (node === 0 ? SHADE_ROOT : shadeOf(node));
}

/** The same, with a shade of their own for nodes whose name was found. */
export function withMatches(shadeOf, { names }, hits) {
  return (node) => (node > 0 && hits[names[node]] ? SHADE_MATCH : shadeOf(node));
}

function nameShade({ strings, names }) {
  const steps = new Uint8Array(strings.length);
  return (node) => (steps[names[node]] ||= nameStep(strings[names[node]]));
}

function changeShade({ total, total2, width }) {
  return (node) => {
    const step = changeStep(total[node], total2[node], width[node]);
    return step > 0 ? SHADE_UP + step : step < 0 ? SHADE_DOWN - step : SHADE_SAME;
  };
}
