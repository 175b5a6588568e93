// Grafana's flame graph, without its table, of the columns that the benchmark serves.
import React from "react";
import { createRoot } from "react-dom/client";
import { createDataFrame, createTheme, FieldType } from "@grafana/data";
import { FlameGraph } from "@grafana/flamegraph";
import { drawn } from "./drawn.js";

const { level, value, self, label, names } = await (await fetch("columns.json")).json();
const fields = [
  { name: "level", type: FieldType.number, values: level },
  { name: "value", type: FieldType.number, values: value, config: { unit: "bytes" } },
  { name: "self", type: FieldType.number, values: self, config: { unit: "bytes" } },
  { name: "label", type: FieldType.string, values: label.map((id) => names[id]) },
];
const theme = createTheme({ colors: { mode: "light" } });
createRoot(document.getElementById("graph")).render(
  <FlameGraph data={createDataFrame({ fields })} getTheme={() => theme} showFlameGraphOnly />,
);
drawn(() => document.querySelector("canvas")?.width > 300);
