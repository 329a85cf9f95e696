// The page of an event: follows it, and takes over what has changed.

import { following } from "./follow.js";
import { Shared } from "./share.js";

const PAUSE = 10_000; // ms between two requests: a large event has many turns, and a large page
const main = document.querySelector("main");
let newest = main.dataset.newest;
let stale = false, asking = false, tries = 0, timer = 0;
let next = 0; // when the page may be asked for again

/** Asks for the page if it is stale: once at a time, not too often, and only while it can be seen. */
function soon() {
  clearTimeout(timer);
  if (stale && !asking && !document.hidden) timer = setTimeout(update, Math.max(0, next - performance.now()));
}

async function update() {
  stale = false, asking = true;
  let fresh;
  try {
    const answer = await fetch(location.href, { signal: AbortSignal.timeout(30_000) });
    fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main");
  } catch {
    // the network is away
  }
  asking = false;
  if (fresh) tries = 0, show(fresh);
  else stale = true; // too many requests, or the server has a bad day
  next = performance.now() + (fresh ? PAUSE : 1000 * Math.min(2 ** tries++, 60));
  soon();
}

function outdated() {
  stale = true;
  soon();
}

function show(fresh) {
  if (!fresh.matches(".event")) shared.close(); // there is no page any more
  // What the reader has opened, where they are, and how far the tables are scrolled stays.
  const open = main.querySelector(":popover-open")?.id, focused = main.contains(document.activeElement) && document.activeElement;
  const at = focused && (focused.getAttribute("popovertarget") ?? focused.getAttribute("href"));
  const scrolled = [...main.querySelectorAll(".wide")].map((e) => e.scrollLeft);
  const ended = main.querySelector("#ended")?.open;
  main.replaceChildren(...document.adoptNode(fresh).childNodes);
  main.querySelectorAll(".wide").forEach((e, i) => (e.scrollLeft = scrolled[i] ?? 0));
  if (ended && main.querySelector("#ended")) main.querySelector("#ended").open = true;
  if (open) document.getElementById(open)?.showPopover();
  if (at) [...main.querySelectorAll("[popovertarget], a")].find((e) => [e.getAttribute("popovertarget"), e.getAttribute("href")].includes(at))?.focus({ preventScroll: true });
}

const shared = new Shared(following(main.dataset.event.slice(1), (now) => {
  if (now === newest) return;
  newest = now;
  outdated();
}, outdated));
document.addEventListener("visibilitychange", soon);
