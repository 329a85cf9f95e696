// Steps through the game of a page and follows it, without loading the page anew. The
// server makes every page whole, so this fetches the page of another moment and takes
// over what differs. Without this script the links of the page do the same.

import { boards, equip } from "./grid.js";

/** The address of the game, "/g/abc". */
const game = document.body.dataset.game;

/** The page that is being fetched; null: none. */
let pending = null;

let fetching = new AbortController(), retrying = 0;

/** The address of what the page shows, which the address bar may be ahead of. */
let shown = location.href;

/**
 * Shows the page at an address instead of this one, if need be after some tries.
 * @param {string} url
 * @param {"push" | "replace" | "keep"} history what becomes of the address bar
 */
async function show(url, history, tries = 0) {
  clearTimeout(retrying);
  fetching.abort();
  const { signal } = fetching = new AbortController();
  pending = { url, history };
  let page, wait = 0;
  try {
    const answer = await fetch(url, { signal });
    wait = Number(answer.headers.get("Retry-After")) || 0;
    page = new DOMParser().parseFromString(await answer.text(), "text/html");
  } catch {
    // The network is away, or another page was asked for meanwhile.
  }
  if (signal.aborted) return;
  if (!page?.querySelector("main")) { // too many requests, or the server has a bad day
    retrying = setTimeout(show, 1000 * Math.max(wait, Math.min(2 ** tries, 60)), url, history, tries + 1);
    return;
  }
  pending = null;
  try {
    if (history === "push") window.history.pushState(null, "", url);
    if (history === "replace") window.history.replaceState(null, "", url);
  } catch {
    // Some browsers allow only so many a second.
  }
  const at = new URL(url, location.href).href;
  const same = at === shown && page.body.dataset.newest === document.body.dataset.newest;
  shown = at;
  if (!same) take(page); // else what the reader is doing stays
}

/** Shows what is shown, or was to be shown, as it is by now. */
const update = () => show(pending?.url ?? location.href, pending?.history ?? "keep");

/** Takes over the contents of another page, and keeps what the reader has opened. */
function take(page) {
  const old = document.querySelector("main");
  const main = document.adoptNode(page.querySelector("main"));
  const focused = old.contains(document.activeElement) && document.activeElement;
  const grid = boards(old).indexOf(focused && focused.closest(".board"));
  const open = new Set([...old.querySelectorAll("details[open] summary")].map((s) => s.textContent));
  const scrolled = old.querySelector("nav ol")?.scrollTop ?? 0;
  const chosen = old.querySelector("#as")?.value;
  main.querySelectorAll("details").forEach((d) => (d.open = open.has(d.querySelector("summary").textContent)));
  document.title = page.title;
  document.documentElement.lang = page.documentElement.lang;
  document.documentElement.dir = page.documentElement.dir;
  document.body.dataset.newest = page.body.dataset.newest;
  document.body.className = page.body.className;
  furnish(main);
  exchange(old, main);
  const list = document.querySelector("nav ol");
  if (list) list.scrollTop = scrolled;
  const choice = document.querySelector("#as");
  if (choice && [...choice.options].some((o) => o.value === chosen)) choice.value = chosen;
  if (focused && !focused.isConnected) (boards()[grid]?.querySelector("[tabindex]") ?? twin(focused))?.focus({ preventScroll: true });
  const line = (document.querySelector(".line") ?? document.querySelector("h1")).textContent;
  if (said.textContent !== line) said.textContent = line;
}

/** Finds what stands for an element of the page before, or is like it. */
function twin(element) {
  const name = ["id", "rel", "data-step", "href"].find((name) => element.getAttribute(name));
  const all = [...document.querySelectorAll("main " + element.localName)];
  return all.find((e) => (name ? e.getAttribute(name) === element.getAttribute(name) : e.textContent === element.textContent)) ?? all[0];
}

/**
 * Puts a fresh main element in the place of the old one. The slider itself stays, because
 * somebody may be dragging it.
 */
function exchange(old, main) {
  const slider = old.querySelector("#turn"), fresh = main.querySelector("#turn");
  if (!slider || !fresh) {
    old.replaceWith(main);
    return;
  }
  for (const { name, value } of fresh.attributes) slider.setAttribute(name, value);
  slider.value = fresh.value;
  refill(slider.parentElement, slider, fresh);
  refill(old, slider.parentElement, fresh.parentElement);
}

/** Replaces all children of an element but one, by the siblings of its twin. */
function refill(element, kept, instead) {
  for (const child of [...element.childNodes]) if (child !== kept) child.remove();
  const fresh = [...instead.parentElement.childNodes], at = fresh.indexOf(instead);
  kept.before(...fresh.slice(0, at));
  kept.after(...fresh.slice(at + 1));
}

/** The addresses to which the slider leads. */
let moments = [];

/** Adds to a main element what needs the script: keys for its boards, and a slider through all turns. */
function furnish(main) {
  equip(main);
  const turns = [...main.querySelectorAll("nav li a")];
  const steps = main.querySelector(".steps");
  if (!steps || turns.length < 2) return;
  moments = [steps.dataset.first, ...turns.slice(0, -1).map((a) => a.getAttribute("href")), steps.dataset.now];
  const slider = document.createElement("input");
  Object.assign(slider, { type: "range", id: "turn", min: 0, max: turns.length, value: steps.dataset.move });
  slider.setAttribute("aria-label", steps.closest("nav").getAttribute("aria-label"));
  slider.setAttribute("aria-valuetext", steps.querySelector("strong").textContent);
  slider.addEventListener("input", () => show(moments[slider.value], "replace"));
  steps.after(slider);
}

/** The links that keys press. */
const keys = { ArrowLeft: "[rel=prev]", ArrowRight: "[rel=next]", Home: ".steps [data-step='«']", End: ".steps [data-step='»']" };

document.addEventListener("keydown", (e) => {
  if (e.defaultPrevented || e.altKey || e.ctrlKey || e.metaKey || e.shiftKey || e.target.closest("input, select, textarea, summary")) return;
  const link = keys[e.key] && document.querySelector(keys[e.key]);
  if (link) {
    e.preventDefault();
    show(link.href, "replace");
  }
});

/** Whether an address is that of a moment of this game. */
const isMoment = (path) => path === game || path.startsWith(game + "/") && /^\d+$/.test(path.slice(game.length + 1));

document.addEventListener("click", (e) => {
  const link = e.target.closest("main a");
  if (!link || e.button || e.altKey || e.ctrlKey || e.metaKey || e.shiftKey || !isMoment(link.pathname)) return;
  e.preventDefault();
  show(link.href, "push");
});

document.addEventListener("changed", update); // by a turn from this page

addEventListener("popstate", () => show(location.href, "keep"));

/** Says what the last turn did to those who hear the page. */
const said = document.createElement("p");
said.className = "heard";
said.setAttribute("role", "status");
document.body.append(said);

let following, newest = document.body.dataset.newest, reconnecting = 0;

/** Follows the game from now on. */
function follow() {
  following?.close();
  following = new EventSource(game + "/follow");
  listen(45); // three beats of the server: a computer that slept may never hear that the connection is gone
  following.addEventListener("message", (e) => {
    listen(45);
    if (e.data === newest) return;
    newest = e.data;
    update(); // also an earlier moment has more turns after it now
  });
  following.addEventListener("gone", () => {
    following.close();
    clearTimeout(reconnecting);
    update();
  });
  following.addEventListener("error", () => {
    if (following.readyState !== EventSource.CLOSED) return; // the browser tries again
    listen(10 + 10 * Math.random()); // not all pages at once
    update(); // there may be no page any more
  });
}

/** Follows the game anew if nothing is heard of it for some seconds, and it has a page. */
function listen(seconds) {
  clearTimeout(reconnecting);
  reconnecting = setTimeout(() => document.querySelector(".steps") && follow(), 1000 * seconds);
}

/** Reads the clocks again, which go on without anybody doing anything. */
async function readClocks() {
  const clocks = document.querySelectorAll(".clock");
  if (document.hidden || !clocks.length) return;
  try {
    const answer = await fetch(location.href);
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    page.querySelectorAll(".clock").forEach((c, i) => clocks[i] && (clocks[i].textContent = c.textContent));
  } catch {
    // the network is away
  }
}
setInterval(readClocks, 30_000);
document.addEventListener("visibilitychange", readClocks);

furnish(document);
follow();
