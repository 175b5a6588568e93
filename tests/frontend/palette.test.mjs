import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { contrast, mixColours, nameStep, parseColour, readableInk } from "../../frontend/js/palette.js";

const css = readFileSync(new URL("../../frontend/css/tokens.css", import.meta.url), "utf8");
const hexOf = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));

function token(name, theme) {
  const [, light, dark] = css.match(new RegExp(`--${name}:\\s*light-dark\\((#\\w{6}),\\s*(#\\w{6})\\)`));
  return hexOf(theme === "light" ? light : dark);
}

test("a function has the same step on every page, and steps are spread", () => {
  const counts = Array(9).fill(0);
  for (let i = 0; i < 8000; i++) counts[nameStep(`function_${i}`)]++;

  assert.equal(nameStep("parse_row"), nameStep("parse_row"));
  assert.equal(counts[0], 0);
  for (const count of counts.slice(1)) assert.ok(count > 500 && count < 1500, String(counts));
});

for (const theme of ["light", "dark"]) {
  test(`every label of the ${theme} theme has a contrast of 4.5, faded ancestors too`, () => {
    const inks = ["frame-ink", "frame-ink-alt"].map((name) => token(name, theme));
    const page = token("page", theme);
    const fills = [
      "frame-root",
      "diff-0",
      "frame-muted",
      ...[1, 2, 3, 4].flatMap((i) => [`up-${i}`, `down-${i}`, `age-${i}`]),
      ...[1, 2, 3, 4, 5, 6, 7, 8].flatMap((i) => [`mem-${i}`, `warm-${i}`, `module-${i}`]),
    ];

    for (const name of fills) {
      const fill = token(name, theme);
      for (const back of [fill, mixColours(fill, page, 0.55)]) {
        const ratio = contrast(readableInk(back, inks), back);
        assert.ok(ratio >= 4.5, `${name}: ${ratio.toFixed(2)}`);
      }
    }
    assert.ok(contrast(token("frame-match-ink", theme), token("frame-match", theme)) >= 4.5);
  });
}

test("colours are read as computed styles write them", () => {
  assert.deepEqual(parseColour("rgb(1, 2, 3)"), [1, 2, 3]);
  assert.deepEqual(parseColour("rgba(1, 2, 3, 0.5)"), [1, 2, 3]);
  assert.throws(() => parseColour("inherit"), /no colour/);
});
