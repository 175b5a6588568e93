// Texts as parts of an address, and back: separators are escaped, signs of names are left as they can be read.

// encodeURIComponent throws at half a surrogate pair, which a hostile name may hold. Signs that a fragment may hold stay
// as they are, so that names of C++ and Go can be read in it.
export const encodeText = (text) =>
  encodeURIComponent(text.replace(/[\ud800-\udfff]/g, wholePairs))
    .replaceAll("~", "%7E")
    .replace(/%(3A|2F|2C|40)/g, decodeURIComponent);

function wholePairs(half, at, text) {
  const code = half.charCodeAt(0);
  const isWhole =
    code < 0xdc00 ? /[\udc00-\udfff]/.test(text[at + 1] ?? "") : /[\ud800-\udbff]/.test(text[at - 1] ?? "");
  return isWhole ? half : "\ufffd";
}

export function decodeText(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
