// Reads the colours of the graph from the page's tokens, and gives each frame its shade.
import { moduleOf } from "./module-names.js";
import { CHANGE_STEPS, NAME_STEPS, changeStep, mixColours, nameStep, parseColour, readableInk } from "./palette.js";

const AGE_STEPS = 4;

const CHANGES = CHANGE_STEPS.length;
// Every colour that a frame can have, by its token; a shade is a place in this list.
const TOKENS = [
  "--frame-root",
  ...steps("mem", NAME_STEPS),
  "--frame-match",
  "--diff-0",
  ...steps("up", CHANGES),
  ...steps("down", CHANGES),
  ...steps("warm", NAME_STEPS),
  ...steps("module", NAME_STEPS),
  ...steps("age", AGE_STEPS),
  "--frame-muted",
];
const OTHER_TOKENS = [
  "--frame-border",
  "--frame-ink",
  "--frame-ink-alt",
  "--frame-match-ink",
  "--page",
  "--ink-2",
  "--hatch",
  "--up-4",
  "--down-4",
];
const shadeOfToken = (token) => TOKENS.indexOf(token);
export const SHADE_ROOT = 0;
export const SHADE_MATCH = shadeOfToken("--frame-match");
const SHADE_SAME = shadeOfToken("--diff-0");
const SHADE_UP = SHADE_SAME;
const SHADE_DOWN = SHADE_UP + CHANGES;
const SHADE_MUTED = shadeOfToken("--frame-muted");
const FADED = 0.55;
const NO_COLOUR = "rgba(0, 0, 0, 0)"; // as browsers write transparent

function steps(name, count) {
  return Array.from({ length: count }, (_, i) => `--${name}-${i + 1}`);
}

/** Colours by shade with the ink that can be read on each, in the theme that the page has now. */
export function readTokens(host) {
  const colours = coloursOf(host, [...TOKENS, ...OTHER_TOKENS]);
  const read = (name) => colours.get(name);
  const inks = ["--frame-ink", "--frame-ink-alt"].map((name) => parseColour(read(name)));
  const page = parseColour(read("--page"));
  const fills = TOKENS.map(read);
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
    border: read("--frame-border") === NO_COLOUR ? null : read("--frame-border"),
    grew: read("--up-4"),
    shrank: read("--down-4"),
    font: `12px ${getComputedStyle(host).getPropertyValue("--font-ui")}`,
  };
}

// A custom property reads back as it was written, light-dark() and all; only a real property is computed to a colour. All
// are read together: one by one each would have the browser work out styles again.
function coloursOf(host, names) {
  const probes = document.createElement("i");
  for (const name of names) probes.append(Object.assign(document.createElement("i"), { style: `color: var(${name})` }));
  host.append(probes);
  const colours = names.map((name, i) => [name, getComputedStyle(probes.children[i]).color]);
  probes.remove();
  return new Map(colours);
}

const cssOf = (colour) => `rgb(${colour.map(Math.round).join(", ")})`;

/**
 * The shade of each node of a tree by `colour` {mode, ages, youngest}; ages as ages.js makes them, bands younger than `youngest`
 * fade. What it works out it keeps, so ask once for a tree.
 */
export function ownShades(tree, colour) {
  const shadeOf = SHADES[colour.mode](tree, colour);
  return (node) => (node === 0 ? SHADE_ROOT : shadeOf(node));
}

const SHADES = {
  memory: (tree) => byName(tree, "--mem-1", nameStep),
  warm: (tree) => byName(tree, "--warm-1", nameStep),
  module: (tree) => byName(tree, "--module-1", (name) => nameStep(moduleOf(name))),
  age: (tree, { ages, youngest }) => (ages ? byAge(ages, youngest) : byName(tree, "--mem-1", nameStep)),
  change: (tree) => byChange(tree),
};

/** The same, with a shade of their own for nodes whose name was found. */
export function withMatches(shadeOf, { names }, hits) {
  return (node) => (node > 0 && hits[names[node]] ? SHADE_MATCH : shadeOf(node));
}

function byName({ strings, names }, firstToken, stepOf) {
  const before = shadeOfToken(firstToken) - 1;
  const known = new Uint8Array(strings.length);
  return (node) => before + (known[names[node]] ||= stepOf(strings[names[node]]));
}

function byAge(ages, youngest) {
  const before = shadeOfToken("--age-1");
  return (node) => {
    const band = ages.bandOf(node, youngest);
    return band < 0 ? SHADE_MUTED : before + ages.step(band, AGE_STEPS);
  };
}

function byChange({ total, total2, larger }) {
  return (node) => {
    const step = changeStep(total[node], total2[node], larger[node]);
    return step > 0 ? SHADE_UP + step : step < 0 ? SHADE_DOWN - step : SHADE_SAME;
  };
}
