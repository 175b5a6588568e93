// Follows a run: over its socket, which comes back by itself, and by asking every few seconds while there is none.

const POLL_MS = 3000;
const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 15_000;
const NOT_VISIBLE = 4404;

/**
 * Calls `on.message` with what the socket sends, `on.view` with what the address answers, `on.link` with true or false as the socket
 * opens and closes, `on.gone` when the run can't be seen any more. `isDone()` ends it all once the run is over.
 */
export function followRun({ socketUrl, viewUrl, isDone }, on) {
  let retryMs = FIRST_RETRY_MS;
  let polling = null;

  function connect() {
    const socket = new WebSocket(socketUrl);
    socket.addEventListener("open", () => {
      retryMs = FIRST_RETRY_MS;
      stopPolling();
      on.link(true);
    });
    socket.addEventListener("message", ({ data }) => {
      on.message(JSON.parse(data));
      if (isDone()) socket.close(1000);
    });
    socket.addEventListener("close", closed);
  }

  function closed({ code }) {
    if (isDone()) return stopPolling();
    if (code === NOT_VISIBLE) return on.gone();
    on.link(false);
    polling ??= setInterval(poll, POLL_MS);
    setTimeout(connect, retryMs * (0.75 + Math.random() / 2));
    retryMs = Math.min(2 * retryMs, MAX_RETRY_MS);
  }

  async function poll() {
    const response = await fetch(viewUrl, { cache: "no-store" }).catch(() => null);
    if (response?.status === 404) return (stopPolling(), on.gone());
    if (response?.ok) on.view(await response.json());
    if (isDone()) stopPolling();
  }

  function stopPolling() {
    clearInterval(polling);
    polling = null;
  }

  connect();
}

export function socketUrlOf(path) {
  return `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${path}`;
}
