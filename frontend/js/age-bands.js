// Tells the bands of age among the value types of a run from the others, and names them by what lies between their bounds.
import { NBSP, titleOf } from "./format.js";

const BAND = /^(.+)\.(?:lt(\d+)([smh])|older)$/;
const UNITS = { s: "s", m: "min", h: "h" };

/** {whole: types without bands, bands: [{type, label}], split: the type that the bands split or null, of: its title or ""}. */
export function splitByAge(types) {
  const split = types.find(({ name }) => types.some((other) => bandOf(other, name)));
  const bands = split ? types.filter((type) => bandOf(type, split.name)) : [];
  return {
    whole: types.filter((type) => !bands.includes(type)),
    bands: bands.map((type, i) => ({ type, label: labelOf(type, bands[i - 1]) })),
    of: split ? titleOf(split.name) : "",
    split: split ?? null,
  };
}

/** The name of a value type as a title, a band's with its age: "Outstanding bytes, 10 s to 1 min". */
export function titleAmong(type, types) {
  const { bands, of } = splitByAge(types);
  const band = bands.find((each) => each.type.name === type.name);
  return band ? `${of}, ${band.label}` : titleOf(type.name);
}

/** The meaning of a value type; of a band with both its bounds, which its name alone does not tell. */
export function meaningAmong(type, types) {
  const { bands } = splitByAge(types);
  const at = bands.findIndex((band) => band.type.name === type.name);
  const [start, end] = at < 0 ? [] : boundsOf(type, bands[at - 1]?.type);
  if (!start && !end) return type.meaning;
  const age = !end ? `${start} or longer` : start ? `${start} to ${end}` : `less than ${end}`;
  const estimated = type.meaning?.match(/, estimated from samples every .*/)?.[0] ?? "";
  return `Bytes allocated ${age} before the snapshot and not freed yet${estimated}`;
}

function bandOf({ name }, whole) {
  const found = name.match(BAND);
  return found?.[1] === whole ? found : null;
}

function labelOf(type, younger) {
  const [start, end] = boundsOf(type, younger);
  if (!end) return start ? `${start} and older` : "of any age";
  return start ? `${start} to ${end}` : `under ${end}`;
}

/** The younger and the older end of a band in words, "" where there is none; "1" and "10 min" for two of one unit. */
function boundsOf(type, younger) {
  const start = younger ? ageOf(younger) : [];
  const end = ageOf(type);
  return [(start[1] === end[1] ? start.slice(0, 1) : start).join(NBSP), end.join(NBSP)];
}

/** [number, unit] of a band's older end; none of the oldest. */
function ageOf({ name }) {
  const [, , number, unit] = name.match(BAND);
  return number ? [number, UNITS[unit]] : [];
}
