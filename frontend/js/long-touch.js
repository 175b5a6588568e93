// A finger that stays where it is, for what the right button of a mouse does: not every browser has an event for it.

const STAYS_MS = 500; // as long as the browsers that have one wait
const MOST_PX = 10; // a finger never holds quite still
const CLICK_WITHIN_MS = 350; // a click that comes later than this after the finger was lifted is another's

/** Calls `act({clientX, clientY})` while the finger still touches; that it is lifted then is no click, on whatever is there now. */
export function bindLongTouch(host, act) {
  let from = null;
  let waiting = 0;
  let isLong = false;

  function begin(event) {
    stop();
    if (event.pointerType !== "touch" || !event.isPrimary) return;
    from = event;
    waiting = setTimeout(held, STAYS_MS);
  }

  function held() {
    waiting = 0;
    isLong = true;
    act(from);
  }

  function move({ clientX, clientY }) {
    if (waiting && Math.hypot(clientX - from.clientX, clientY - from.clientY) > MOST_PX) stop();
  }

  function stop() {
    clearTimeout(waiting);
    waiting = 0;
  }

  function lifted() {
    stop();
    setTimeout(forget, CLICK_WITHIN_MS);
  }

  function forget() {
    isLong = false;
  }

  function clicked(event) {
    if (isLong) (event.preventDefault(), event.stopImmediatePropagation());
    forget();
  }

  // A browser that has an event for it is first, or comes too late.
  function told(event) {
    if (isLong) (event.preventDefault(), event.stopImmediatePropagation());
    if (waiting) isLong = true;
    stop();
  }

  host.addEventListener("pointerdown", begin);
  host.addEventListener("pointermove", move);
  for (const end of ["pointerup", "pointercancel"]) host.addEventListener(end, lifted);
  document.addEventListener("pointerdown", forget, { capture: true });
  document.addEventListener("click", clicked, { capture: true });
  host.addEventListener("contextmenu", told, { capture: true });
}
