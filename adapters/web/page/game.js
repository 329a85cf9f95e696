// Steps through the game of a page and follows it, without loading the page anew. The
// server makes every page whole, so this fetches the page of another moment and takes
// over what differs. Without this script the links of the page do the same.

/** The address of the game, "/g/abc". */
const game = document.body.dataset.game;

let fetching = new AbortController();

/** The address of what the page shows, which the address bar may be ahead of. */
let shown = location.href;

/** Whether the page shows the game as it is now, whatever happens. */
const follows = () => location.pathname === game;

/**
 * Shows the page at an address instead of this one.
 * @param {string} url
 * @param {"push" | "replace" | "keep"} history what becomes of the address bar
 */
async function show(url, history) {
  fetching.abort();
  fetching = new AbortController();
  let text;
  try {
    const answer = await fetch(url, { signal: fetching.signal });
    if (answer.status === 429 || answer.status >= 500) return; // the page stays as it is
    text = await answer.text();
  } catch {
    return; // another was asked for meanwhile, or the network is away
  }
  if (history === "push") window.history.pushState(null, "", url);
  if (history === "replace") window.history.replaceState(null, "", url);
  const page = new DOMParser().parseFromString(text, "text/html");
  const same = new URL(url, location.href).href === shown && page.body.dataset.newest === document.body.dataset.newest;
  shown = new URL(url, location.href).href;
  if (!same) take(page); // else what the reader is doing stays
}

/** Takes over the contents of another page, and keeps what the reader has opened. */
function take(page) {
  const old = document.querySelector("main");
  const main = document.adoptNode(page.querySelector("main"));
  const focused = document.activeElement?.closest("main") && (document.activeElement.rel || document.activeElement.id);
  const open = [...old.querySelectorAll("details")].map((d) => d.open);
  const scrolled = old.querySelector("nav ol")?.scrollTop ?? 0;
  main.querySelectorAll("details").forEach((d, i) => (d.open = open[i] ?? false));
  document.title = page.title;
  document.body.dataset.newest = page.body.dataset.newest;
  document.body.className = page.body.className;
  old.replaceWith(main);
  furnish();
  const list = main.querySelector("nav ol");
  if (list) list.scrollTop = scrolled;
  if (focused) (main.querySelector(`[rel="${CSS.escape(focused)}"]`) ?? main.querySelector(`#${CSS.escape(focused)}`))?.focus();
  const line = main.querySelector(".line")?.textContent ?? "";
  if (said.textContent !== line) said.textContent = line;
}

/** Adds what needs the script: a slider through all turns. */
function furnish() {
  const turns = [...document.querySelectorAll("nav li a")];
  const steps = document.querySelector(".steps");
  if (!steps || turns.length < 2) return;
  const all = [steps.dataset.first, ...turns.slice(0, -1).map((a) => a.getAttribute("href")), steps.dataset.now];
  const slider = document.createElement("input");
  Object.assign(slider, { type: "range", id: "turn", min: 0, max: turns.length, value: Number(steps.dataset.move) });
  slider.setAttribute("aria-label", steps.closest("nav").getAttribute("aria-label"));
  slider.addEventListener("input", () => show(all[slider.value], "replace"));
  steps.after(slider);
}

/** The links that keys press. */
const keys = { ArrowLeft: "[rel=prev]", ArrowRight: "[rel=next]", Home: ".steps [data-step='«']", End: ".steps [data-step='»']" };

document.addEventListener("keydown", (e) => {
  if (e.altKey || e.ctrlKey || e.metaKey || e.shiftKey || e.target.closest("input, select, textarea, summary")) return;
  const link = keys[e.key] && document.querySelector(keys[e.key]);
  if (link) {
    e.preventDefault();
    show(link.href, "replace");
  }
});

document.addEventListener("click", (e) => {
  const link = e.target.closest("main a");
  if (!link || e.button || e.altKey || e.ctrlKey || e.metaKey || e.shiftKey || !new URL(link.href).pathname.startsWith(game)) return;
  e.preventDefault();
  show(link.href, "push");
});

document.addEventListener("changed", () => show(location.href, "keep")); // by a turn from this page

addEventListener("popstate", () => show(location.href, "keep"));

/** Says what the last turn did to those who hear the page. */
const said = document.createElement("p");
said.className = "heard";
said.setAttribute("role", "status");
document.body.append(said);

const following = new EventSource(game + "/follow");
let newest = Number(document.body.dataset.newest);
following.addEventListener("message", (e) => {
  if (Number(e.data) === newest) return;
  newest = Number(e.data);
  show(location.href, "keep"); // also an earlier moment has more turns after it now
});
following.addEventListener("gone", () => {
  following.close();
  show(location.href, "keep");
});

furnish();
