// The page of an event: follows it, and takes over what has changed.

import { following } from "./follow.js";
import { Shared } from "./share.js";

const main = document.querySelector("main");
let newest = main.dataset.newest, retrying = 0;
let asked = 0, shown = 0; // how often the page was asked for, and which of these answers is shown

async function update(tries = 0) {
  clearTimeout(retrying);
  const mine = ++asked;
  let page;
  try {
    page = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
  } catch {
    // the network is away
  }
  if (mine < shown) return; // what was asked for later has come before, and is newer
  const fresh = page?.querySelector("main");
  if (!fresh) { // too many requests, or the server has a bad day
    if (mine === asked) retrying = setTimeout(() => update(tries + 1), 1000 * Math.min(2 ** tries, 60));
    return;
  }
  shown = mine;
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
  update();
}, () => update()));
