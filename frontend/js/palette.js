// Chooses colours: which step a name or a change has, and which ink can be read on it.

export const NAME_STEPS = 8;
/** Shares of a frame's own width from which a change has the next stronger step. */
export const CHANGE_STEPS = [0.05, 0.25, 0.5, 0.8];
const MIN_CONTRAST = 4.5;

/** Step 1 to 8 of a function, the same on every page: FNV-1a of its name. */
export function nameStep(name) {
  let hash = 2166136261;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 16777619);
  return Math.floor(((hash >>> 0) / 4294967296) * NAME_STEPS) + 1;
}

/** Step -4 (shrank by 80 % of its width) to 4 (grew); 0 is less than 5 %. */
export function changeStep(before, after, width) {
  const share = width > 0 ? Math.abs(after - before) / width : 0;
  const step = CHANGE_STEPS.filter((least) => share >= least - 1e-12).length;
  return after < before ? -step : step;
}

/** [r, g, b] of "rgb(1, 2, 3)", as computed styles have it. */
export function parseColour(text) {
  const parts = text.match(/[\d.]+/g)?.map(Number) ?? [];
  if (parts.length < 3) throw new Error(`no colour: ${text}`);
  const scale = text.startsWith("color(") ? 255 : 1;
  return parts.slice(0, 3).map((part) => part * scale);
}

export function mixColours(front, back, alpha) {
  return front.map((part, i) => part * alpha + back[i] * (1 - alpha));
}

export function contrast(a, b) {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

function luminance(colour) {
  const [r, g, b] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** The first ink that can be read on `back`; the one with most contrast where none can. */
export function readableInk(back, inks) {
  const best = [...inks].sort((a, b) => contrast(b, back) - contrast(a, back))[0];
  return inks.find((ink) => contrast(ink, back) >= MIN_CONTRAST) ?? best;
}
