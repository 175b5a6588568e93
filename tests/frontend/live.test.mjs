import assert from "node:assert/strict";
import test, { mock } from "node:test";
import { followRun } from "../../frontend/js/live.js";

// Stands in for the browser's socket and fetch: what they would do is up to each test.
class Socket extends EventTarget {
  static opened = [];

  constructor(url) {
    super();
    this.url = url;
    Socket.opened.push(this);
  }

  say(type, fields = {}) {
    this.dispatchEvent(Object.assign(new Event(type), fields));
  }

  close(code) {
    this.say("close", { code });
  }
}

function follow(t, { answers = [] } = {}) {
  mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  Object.assign(globalThis, {
    WebSocket: Socket,
    fetch: async () => answers.shift() ?? Promise.reject(new Error("down")),
  });
  Socket.opened = [];
  const told = [];
  const run = { isDone: false };
  const tell = (what) => (fields) => told.push([what, fields]);
  const on = { message: tell("message"), view: tell("view"), link: tell("link"), gone: tell("gone") };
  followRun({ socketUrl: "ws://site/ws", viewUrl: "/api", isDone: () => run.isDone }, on);
  t.after(() => mock.timers.reset());
  return { told, run, names: () => told.map(([what]) => what) };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("messages of the socket are told as they come", (t) => {
  const { told } = follow(t);

  Socket.opened[0].say("open");
  Socket.opened[0].say("message", { data: '{"state":"recording"}' });

  assert.deepEqual(told, [
    ["link", true],
    ["message", { state: "recording" }],
  ]);
});

test("while the socket is down the page asks, and the socket comes back", async (t) => {
  const { told, names } = follow(t, {
    answers: [{ ok: true, status: 200, json: async () => ({ state: "recording" }) }],
  });

  Socket.opened[0].say("close", { code: 1006 });
  mock.timers.tick(3000);
  await settled();

  assert.equal(Socket.opened.length, 2);
  assert.deepEqual(told, [
    ["link", false],
    ["view", { state: "recording" }],
  ]);

  Socket.opened[1].say("open");
  mock.timers.tick(60_000);
  await settled();

  assert.deepEqual(names(), ["link", "view", "link"]);
});

test("retries come at longer and longer intervals", (t) => {
  follow(t);

  for (let i = 0; i < 8; i++) {
    Socket.opened.at(-1).say("close", { code: 1006 });
    mock.timers.tick(20_000);
  }
  Socket.opened.at(-1).say("close", { code: 1006 });
  const before = Socket.opened.length;
  mock.timers.tick(10_000);

  assert.equal(Socket.opened.length, before);
});

test("nothing is asked any more once the run is over", (t) => {
  const { run, names } = follow(t);

  run.isDone = true;
  Socket.opened[0].say("message", { data: '{"state":"ready"}' });
  mock.timers.tick(60_000);

  assert.equal(Socket.opened.length, 1);
  assert.deepEqual(names(), ["message"]);
});

test("a run that can't be seen any more is told, and not asked for again", (t) => {
  const { names } = follow(t);

  Socket.opened[0].say("close", { code: 4404 });
  mock.timers.tick(60_000);

  assert.deepEqual(names(), ["gone"]);
  assert.equal(Socket.opened.length, 1);
});
