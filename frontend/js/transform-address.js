// Transforms as a part of an address, in their order: "hide-function:read;recursion", and back.
import { decodeText, encodeText } from "./address-text.js";
import { KINDS } from "./transforms.js";

const MAX_STEPS = 32;

/** "" for none. */
export const writeSteps = (transforms) => transforms.map(writeStep).join(";");

// A name may hold ":", but no kind does; "~" is always escaped.
function writeStep({ kind, ...rest }) {
  const values = KINDS[kind].fields.flatMap((field) => rest[field] ?? "").map(encodeText);
  return values.length ? `${kind}:${values.join("~")}` : kind;
}

/** {transforms, gone}: `gone` says in words which steps can't be read. */
export function readSteps(text) {
  const found = { transforms: [], gone: [] };
  for (const step of text.split(";").filter(Boolean).slice(0, MAX_STEPS)) {
    const transform = readStep(step);
    if (transform) found.transforms.push(transform);
    else found.gone.push(`A step of the link can't be read here: ${decodeText(step).slice(0, 80)}.`);
  }
  return found;
}

function readStep(step) {
  const at = step.indexOf(":");
  const kind = at < 0 ? step : step.slice(0, at);
  if (!Object.hasOwn(KINDS, kind)) return null;
  const { fields, accepts } = KINDS[kind];
  const values =
    at < 0
      ? []
      : step
          .slice(at + 1)
          .split("~")
          .map(decodeText);
  if (fields.length > 0 && !values[0]) return null;
  if (accepts && !accepts(values)) return null;
  if (fields[0] === "path") return { kind, path: values };
  return { kind, ...Object.fromEntries(fields.map((field, i) => [field, values[i] ?? ""])) };
}
