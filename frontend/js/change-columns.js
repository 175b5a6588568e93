// The columns of what changed by function: both sides, the change, and its share of the function's own past and of all before.
import { element } from "./dom.js";
import { formatChange, formatOfOwn, formatPercent, formatValue } from "./format.js";
import { changeBar } from "./table-view.js";

/** Its columns, as table-view.js has them; `scale` is {unit, largest, all}: the largest change, and all of before. */
export function changeColumns() {
  const orDash = (value, unit) => (value === 0 ? "–" : formatValue(value, unit));
  return [
    { title: "Function", className: "fn", sort: "name" },
    {
      title: "Shrank | grew",
      className: "c2",
      cell: ({ selfChange }, { largest }) => changeBar(largest ? selfChange / largest : 0),
    },
    { title: "Self before", className: "n c1", sort: "self", cell: ({ self }, { unit }) => orDash(self, unit) },
    {
      title: "Self after",
      className: "n c1",
      sort: "selfAfter",
      cell: ({ selfAfter }, { unit }) => orDash(selfAfter, unit),
    },
    {
      title: "Self change",
      className: "n",
      sort: "selfChange",
      cell: ({ selfChange }, { unit }) => change(selfChange, unit),
    },
    { title: "Of own before", className: "n", cell: ({ self, selfAfter }) => ofOwn(self, selfAfter) },
    {
      title: "Of all before",
      className: "n c1",
      cell: ({ selfChange }, { all }) => (all && selfChange ? signed(selfChange / all) : "–"),
    },
    {
      title: "Total change",
      className: "n c1",
      sort: "totalChange",
      cell: ({ totalChange }, { unit }) => change(totalChange, unit),
    },
  ];
}

function change(value, unit) {
  return element(
    "span",
    { class: value > 0 ? "grew" : value < 0 ? "shrank" : "quiet" },
    value === 0 ? "–" : formatChange(value, unit),
  );
}

function ofOwn(before, after) {
  const words = formatOfOwn(before, after);
  return ["new", "gone"].includes(words) ? element("span", { class: "tag" }, words) : words;
}

const signed = (share) => (share > 0 ? "+" : "") + formatPercent(share);
