import assert from "node:assert/strict";
import test from "node:test";
import { Worker } from "node:worker_threads";
import { TooSlow, workerClient } from "../../frontend/js/worker-client.js";
import { encodeStacks } from "./encode.mjs";

// The real worker.js in a thread of Node, which has no `self` of its own.
const BOOT = `
  import { parentPort } from "node:worker_threads";
  globalThis.self = { postMessage: (message) => parentPort.postMessage(message) };
  const early = [];
  const keep = (data) => early.push(data);
  parentPort.on("message", keep);
  await import(${JSON.stringify(new URL("../../frontend/js/worker.js", import.meta.url).href)});
  parentPort.off("message", keep);
  parentPort.on("message", (data) => self.onmessage({ data }));
  for (const data of early) self.onmessage({ data });
`;

function startThread() {
  const thread = new Worker(new URL(`data:text/javascript,${encodeURIComponent(BOOT)}`));
  const page = {
    postMessage: (message, moved) => thread.postMessage(message, moved),
    terminate: () => thread.terminate(),
  };
  thread.on("message", (data) => page.onmessage({ data }));
  thread.on("error", (error) => page.onerror(error));
  return page;
}

async function withClient(options, use) {
  const client = workerClient(startThread, options);
  try {
    await use(client);
  } finally {
    client.close();
  }
}

const MANY_A = "a".repeat(40) + "!";

test("the Worker tests names and adds up functions of the payload it opened", () =>
  withClient({ timeoutMs: 20_000 }, async (client) => {
    await client.open(encodeStacks({ "main;leak;malloc": 40, "main;put": 2 }), false);

    const { hits } = await client.match("leak|put");
    const { values, changes } = await client.functions();

    assert.equal(hits.filter(Boolean).length, 2);
    assert.equal(changes, null);
    assert.deepEqual([...values.self].sort((a, b) => b - a).slice(0, 2), [40, 2]);
  }));

test("an expression that would take for ever ends, and the next one works", () =>
  withClient({ timeoutMs: 2000 }, async (client) => {
    const again = () => encodeStacks({ [MANY_A]: 1 });
    const handedOver = again();
    await client.open(handedOver, true, again);
    assert.equal(handedOver.byteLength, 0, "the page holds no second copy");

    await assert.rejects(client.match("^(a+)+$"), TooSlow);

    assert.deepEqual([...(await client.match("a!")).hits], [1]);
  }));

test("a payload that is broken is told in words", () =>
  withClient({}, async (client) => {
    await assert.rejects(client.open(new ArrayBuffer(3), true), /no graph/);
  }));

test("what the table counts is told beside it, also where the graph shows one function", () =>
  withClient({ timeoutMs: 20_000 }, async (client) => {
    await client.open(encodeStacks({ "main;leak": 40, "main;put": 2 }), true);
    await client.view({ view: "sandwich", fn: "leak", transforms: [], path: [] }, 0);

    const { all } = await client.functions();

    assert.equal(all, 42);
  }));
