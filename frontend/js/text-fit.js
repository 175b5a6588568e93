// Cuts a name to the room of its frame, at code points, without asking the canvas to measure each label.

const MIN_CHARACTERS = 3;
const ELLIPSIS = "…";

/** A measure of text: widths of code points are asked for once, by `widthOfText`. */
export function textMeasure(widthOfText) {
  const known = new Map();
  const widthOf = (point) => {
    let width = known.get(point);
    if (width === undefined) known.set(point, (width = widthOfText(point)));
    return width;
  };
  return {
    width: (text) => Array.from(text).reduce((sum, point) => sum + widthOf(point), 0),
    /** The text, cut with "…" to the room; "" if fewer than 3 characters would be left. */
    fit: (text, room) => fit(text, room, widthOf),
    fits: (text, room) => fit(text, room, widthOf) === text,
  };
}

function fit(text, room, widthOf) {
  const cutRoom = room - widthOf(ELLIPSIS);
  let [used, cut, points, cutPoints] = [0, 0, 0, 0];
  let at = 0;
  for (const point of text) {
    if (used + widthOf(point) <= cutRoom) [cut, cutPoints] = [at + point.length, points + 1];
    used += widthOf(point);
    if (used > room) return cutPoints < MIN_CHARACTERS ? "" : text.slice(0, cut) + ELLIPSIS;
    at += point.length;
    points++;
  }
  return text;
}
