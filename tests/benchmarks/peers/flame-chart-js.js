// flame-chart-js, which has no search, of a tree whose frames stand at the times 0, 1, 2 … bytes.
import { FlameChart } from "flame-chart-js";
import { drawn } from "./drawn.js";

const data = await (await fetch("timed.json")).json();
const canvas = document.createElement("canvas");
canvas.width = 1600;
canvas.height = 900;
document.getElementById("graph").append(canvas);
const chart = new FlameChart({ canvas, data: [data] });
drawn(() => chart !== null);
