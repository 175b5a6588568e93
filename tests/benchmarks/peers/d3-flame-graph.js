// d3-flame-graph without frames narrower than a pixel: with them it is not there after a minute.
import { select } from "d3-selection";
import flamegraph from "d3-flame-graph";
import { drawn } from "./drawn.js";

const data = await (await fetch("nested.json")).json();
const chart = flamegraph().width(1580).transitionDuration(0).minFrameSize(1);
select("#graph").datum(data).call(chart);
drawn(() => document.querySelector("svg g.frame"));
