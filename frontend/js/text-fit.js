// Cuts a name to the room of its frame, at code points, without asking the canvas to measure each label.

const MIN_CHARACTERS = 3;
const ELLIPSIS = "…";
const ASCII = 128;

/** A measure of text: widths of code points are asked for once, by `widthOfText`. */
export function textMeasure(widthOfText) {
  const ascii = new Float64Array(ASCII).fill(-1);
  const others = new Map();

  function widthOf(point) {
    const code = point.codePointAt(0);
    if (code < ASCII) return widthOfAscii(code);
    let width = others.get(point);
    if (width === undefined) others.set(point, (width = widthOfText(point)));
    return width;
  }

  function widthOfAscii(code) {
    if (ascii[code] < 0) ascii[code] = widthOfText(String.fromCharCode(code));
    return ascii[code];
  }

  /** {text, width}: the text, cut with "…" to the room; "" if fewer than 3 characters would be left. */
  function fit(text, room) {
    const cutRoom = room - widthOf(ELLIPSIS);
    let [used, cut, cutWidth, points, cutPoints] = [0, 0, 0, 0, 0];
    for (let at = 0; at < text.length; points++) {
      const code = text.charCodeAt(at);
      const point = code < ASCII ? "" : String.fromCodePoint(text.codePointAt(at));
      used += point ? widthOf(point) : widthOfAscii(code);
      at += point.length || 1;
      if (used <= cutRoom) [cut, cutWidth, cutPoints] = [at, used, points + 1];
      if (used > room) return cutPoints < MIN_CHARACTERS ? NOTHING : shortened(text.slice(0, cut), cutWidth);
    }
    return { text, width: used };
  }

  const shortened = (text, width) => ({ text: text + ELLIPSIS, width: width + widthOf(ELLIPSIS) });

  return {
    fit,
    width: (text) => fit(text, Infinity).width,
    fits: (text, room) => fit(text, room).text === text,
  };
}

const NOTHING = { text: "", width: 0 };
