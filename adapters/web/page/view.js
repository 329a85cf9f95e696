// Shows a game in an element and steps through it, without loading a page anew. The server
// makes every page whole, so this fetches the page of another moment and takes over what
// differs. Without it the links of the page do the same.

import { boards, equip } from "./grid.js";
import "./ledger.js";
import { exchange, twin } from "./exchange.js";

/** The links that keys press. */
const keys = { ArrowLeft: "[rel=prev]", ArrowRight: "[rel=next]", Home: ".steps [data-step='«']", End: ".steps [data-step='»']" };

/** Whether a key or a press of the mouse is held together with another key. */
const modified = (e) => e.altKey || e.ctrlKey || e.metaKey || e.shiftKey;

/**
 * A game in an element, which is a main element of the server or becomes like one. Its events
 * at the element: "taken" with the page that it has taken over, which may be one that says that there is none.
 */
export class GameView {
  #root;
  #address; // whether the address bar tells what is shown
  #from;
  #pending = null; // the page that is being fetched; null: none
  #fetching = new AbortController();
  #retrying = 0;
  #shown; // the address of what is shown, which the address bar may be ahead of
  #fetched; // and that from which it came
  #moments = []; // the addresses to which the slider leads
  #closed = new AbortController();

  /**
   * @param {Element} root
   * @param {string} url the address of what the element shows
   * @param {{address?: boolean, from?: (url: string) => string}} options from: the address from
   *   which to fetch a page, by that which it has
   */
  constructor(root, url, { address = false, from = (url) => url } = {}) {
    this.#root = root;
    this.#shown = new URL(url, location.href).href;
    this.#address = address;
    this.#from = from;
    const { signal } = this.#closed;
    document.addEventListener("keydown", (e) => this.#key(e), { signal });
    root.addEventListener("click", (e) => this.#click(e), { signal });
    document.addEventListener("changed", () => this.update(), { signal }); // by a turn from this page
    if (address) addEventListener("popstate", () => this.show(location.href), { signal });
    document.addEventListener("visibilitychange", () => this.#readClocks(), { signal });
    const clocks = setInterval(() => this.#readClocks(), 30_000);
    signal.addEventListener("abort", () => clearInterval(clocks));
    this.#furnish(root);
  }

  /** The address of the game, "/g/abc". */
  get game() {
    return this.#root.dataset.game;
  }

  /** The number of the newest event of the game that the view knows of. */
  get newest() {
    return this.#root.dataset.newest;
  }

  /** Ends the view; what it shows stays. */
  close() {
    clearTimeout(this.#retrying);
    this.#fetching.abort();
    this.#closed.abort();
  }

  /** Shows what is shown, or was to be shown, as it is by now. */
  update() {
    return this.show(this.#pending?.url ?? this.#shown, this.#pending?.history);
  }

  /** Shows what is shown as it is for the reader by now, who may be somebody else. */
  refresh() {
    delete this.#root.dataset.newest;
    return this.update();
  }

  /**
   * Shows the page at an address instead of this one, if need be after some tries.
   * @param {string} url
   * @param {"push" | "replace" | "keep"} history what becomes of the address bar
   */
  async show(url, history = "keep", tries = 0) {
    clearTimeout(this.#retrying);
    this.#fetching.abort();
    const { signal } = this.#fetching = new AbortController();
    this.#pending = { url, history };
    const from = this.#from(url);
    let page, wait = 0;
    try {
      const answer = await fetch(from, { signal });
      wait = Number(answer.headers.get("Retry-After")) || 0;
      page = new DOMParser().parseFromString(await answer.text(), "text/html");
    } catch {
      // The network is away, or another page was asked for meanwhile.
    }
    if (signal.aborted) return;
    const main = page?.querySelector("main");
    if (!main) { // too many requests, or the server has a bad day
      this.#retrying = setTimeout(() => this.show(url, history, tries + 1), 1000 * Math.max(wait, Math.min(2 ** tries, 60)));
      return;
    }
    this.#pending = null;
    if (this.#address) {
      try {
        if (history === "push") window.history.pushState(null, "", url);
        if (history === "replace") window.history.replaceState(null, "", url);
      } catch {
        // Some browsers allow only so many a second.
      }
    }
    const at = new URL(url, location.href).href.replace(/#.*/, "");
    const same = at === this.#shown && from === (this.#fetched ?? from) && main.dataset.newest === this.newest && this.#root.hasChildNodes();
    this.#shown = at;
    this.#fetched = from;
    if (!same) this.#take(page, main); // else what the reader is doing stays
  }

  /** Takes over the contents of another page, and keeps what the reader has opened. */
  #take(page, main) {
    const root = this.#root;
    document.adoptNode(main);
    const focused = root.contains(document.activeElement) && document.activeElement;
    const grid = boards(root).indexOf(focused && focused.closest(".board"));
    const open = new Set([...root.querySelectorAll("details[open] summary")].map((s) => s.textContent));
    const scrolled = root.querySelector("nav ol")?.scrollTop ?? 0;
    const chosen = root.querySelector("#as")?.value;
    main.querySelectorAll("details").forEach((d) => (d.open = open.has(d.querySelector("summary").textContent)));
    root.className = main.className;
    root.lang = page.documentElement.lang;
    root.dir = page.documentElement.dir;
    for (const name of ["game", "newest"]) {
      if (name in main.dataset) root.dataset[name] = main.dataset[name];
    }
    this.#furnish(main);
    exchange(root, main, "#moment");
    const list = root.querySelector("nav ol");
    if (list) list.scrollTop = scrolled;
    const choice = root.querySelector("#as");
    if (choice && [...choice.options].some((o) => o.value === chosen)) choice.value = chosen;
    if (focused && !focused.isConnected) (boards(root)[grid]?.querySelector("[tabindex]") ?? twin(root, focused))?.focus({ preventScroll: true });
    root.dispatchEvent(new CustomEvent("taken", { detail: page }));
  }

  /** Adds to a main element what needs the script: keys for its boards, and a slider through all turns. */
  #furnish(main) {
    equip(main);
    const turns = [...main.querySelectorAll("nav li a")];
    const steps = main.querySelector(".steps");
    if (!steps || turns.length < 2) return;
    this.#moments = [steps.dataset.first, ...turns.slice(0, -1).map((a) => a.getAttribute("href")), steps.dataset.now];
    const slider = document.createElement("input");
    Object.assign(slider, { type: "range", id: "moment", min: 0, max: turns.length, value: steps.dataset.move });
    slider.setAttribute("aria-label", steps.closest("nav").getAttribute("aria-label"));
    slider.setAttribute("aria-valuetext", steps.querySelector("strong").textContent);
    slider.addEventListener("input", () => this.show(this.#moments[slider.value], "replace"));
    steps.after(slider);
  }

  #key(e) {
    const here = this.#address || e.target === document.body || this.#root.contains(e.target);
    if (!here || e.defaultPrevented || modified(e) || e.target.closest("input, select, textarea, summary")) return;
    const link = keys[e.key] && this.#root.querySelector(keys[e.key]);
    if (link) {
      e.preventDefault();
      this.show(link.href, "replace");
    }
  }

  #click(e) {
    const link = e.target.closest("a");
    if (!link || link.hash || e.button || modified(e) || !this.#isMoment(link.pathname)) return;
    e.preventDefault();
    this.show(link.href, "push");
  }

  /** Whether an address is that of a moment of this game. */
  #isMoment(path) {
    return path === this.game || path.startsWith(this.game + "/") && /^\d+$/.test(path.slice(this.game.length + 1));
  }

  /** Reads the clocks again, which go on without anybody doing anything. */
  async #readClocks() {
    const clocks = this.#root.querySelectorAll(".clock");
    if (document.hidden || !clocks.length) return;
    try {
      const answer = await fetch(this.#from(this.#shown));
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      page.querySelectorAll(".clock").forEach((c, i) => clocks[i] && (clocks[i].textContent = c.textContent));
    } catch {
      // the network is away
    }
  }
}
