// react-flame-graph, which has no search and needs React 16.
import React from "react";
import { render } from "react-dom";
import { FlameGraph } from "react-flame-graph";
import { drawn } from "./drawn.js";

const data = await (await fetch("nested.json")).json();
const host = document.getElementById("graph");
render(React.createElement(FlameGraph, { data, height: 900, width: 1580 }), host);
drawn(() => host.firstElementChild?.querySelector("div"));
