// Measures both sides of a difference anew: as counted, as a share of their side or by the hour, and with other widths.

const SECONDS_AN_HOUR = 3600;

/** By name as an address has it: the word in the list, the unit of such numbers, and what `scaled` divides each side by. */
export const SCALES = {
  counted: { title: "as counted", unitOf: (unit) => unit, divisors: () => null },
  share: {
    title: "share of its side",
    unitOf: () => "share",
    divisors: ({ self, self2 }) => [self, self2].map((column) => column.reduce((sum, value) => sum + value, 0)),
  },
  hour: {
    title: "per hour",
    unitOf: (unit) => `${unit}/h`,
    divisors: (_, seconds) => seconds.map((each) => each / SECONDS_AN_HOUR),
  },
};

export const AS_COUNTED = { width: "larger", scale: "counted", isBeside: false, seconds: null };

/** Whether a payload is drawn as it came. */
export const isAsCounted = ({ width, scale, isBeside } = AS_COUNTED) =>
  width === AS_COUNTED.width && scale === AS_COUNTED.scale && !isBeside;

/**
 * What can be drawn of a measure that is asked for: by the hour only where both sides say how long they took, and beside
 * each other each side has its own width.
 */
export function drawableMeasure({ width, scale, isBeside }, seconds) {
  const isTimed = scale === "hour" && seconds !== null;
  return {
    width: isBeside ? "after" : width,
    scale: scale === "hour" && !isTimed ? AS_COUNTED.scale : scale,
    isBeside,
    seconds: isTimed ? seconds : null,
  };
}

/** Columns of a difference in the numbers and widths of a measure {width, scale, seconds}; `seconds` of both sides. */
export function measured(columns, measure = AS_COUNTED) {
  if (!columns.self2 || isAsCounted(measure)) return columns;
  const { width, scale, seconds } = measure;
  const divisors = SCALES[scale].divisors(columns, seconds);
  const { total, total2, ...header } = columns.header;
  if (!divisors) return { ...columns, header: { ...columns.header, widthBy: width } };
  const [self, self2] = [columns.self, columns.self2].map((column, i) => divided(column, divisors[i]));
  return { ...columns, header: { ...header, widthBy: width, whole: { total, total2 } }, self, self2 };
}

// Divided and not multiplied: one share is then one number, whatever the sides' totals are.
function divided(column, by) {
  const out = new Float64Array(column.length);
  if (by) for (let i = 0; i < out.length; i++) out[i] = column[i] / by;
  return out;
}
