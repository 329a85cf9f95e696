// Lets somebody who plays in the game of a page make turns on it. The server says in #play
// what they may do; a turn appears at once, and is taken back if it is refused.

import { uuid } from "./ask.js";
import { offer } from "./grid.js";
import { isSure, pressed } from "./press.js";

const SVG = "http://www.w3.org/2000/svg";
const play = () => document.querySelector("#play");

/** Whether a turn is under way: until it is answered, presses do nothing. */
const sending = () => "sending" in document.body.dataset;

/** Stones that are not on the board yet, and marks: a ghost that another press places, a turn under way. */
let laid = [];

/** The points that somebody names as dead with their pass, and the button that began it; null: they do not. */
let naming = null;

function clear() {
  for (const l of laid) l.remove();
  laid = [];
  naming?.button.removeAttribute("aria-pressed");
  naming = null;
}

/** Lays a shape of the board on a point: "X", "O", or their ghosts "G" and "H", or the mark "C". */
function lay(point, shape) {
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#b${shape}`);
  use.setAttribute("x", point.getAttribute("x"));
  use.setAttribute("pointer-events", "none");
  use.dataset.at = point.dataset.point;
  point.parentNode.append(use);
  laid.push(use);
}

/** Says something about a turn, with buttons for what can be done then. */
function answer(text, controls = []) {
  const place = document.querySelector("#answer");
  if (!place) return;
  place.textContent = text;
  for (const c of controls) {
    const b = document.createElement("button");
    b.type = "button";
    b.textContent = c.label;
    b.dataset.command = c.command;
    b.dataset.args = JSON.stringify(c.args ?? {});
    place.append(" ", b);
  }
}

const seconds = (n) => new Promise((done) => setTimeout(done, n * 1000));

/** Submits a command until the server has answered: the id makes a repetition harmless. */
async function submit(command, args) {
  const body = JSON.stringify({ id: uuid(), seat: play().dataset.seat, page: play().dataset.page, command, args });
  for (let wait = 1; ; wait = Math.min(2 * wait, 30)) {
    try {
      const reply = await fetch("/ask", { method: "POST", headers: { "Content-Type": "application/json" }, body });
      if (reply.ok) return await reply.json();
      answer(await reply.text());
      if (reply.status !== 429 && reply.status < 500) return null;
      wait = Math.max(wait, Number(reply.headers.get("Retry-After")) || 0);
    } catch {
      // the network is away
    }
    await seconds(wait);
  }
}

/** Makes a turn. */
async function make(command, args) {
  if (sending()) return;
  document.body.dataset.sending = "";
  offer();
  answer("");
  try {
    const got = await submit(command, args);
    if (!got || got.private) {
      clear();
      if (got) answer(got.message.text, got.message.controls);
    } else {
      document.dispatchEvent(new Event("changed"));
    }
  } finally {
    delete document.body.dataset.sending;
    offer();
  }
}

/** Presses a point; sure: one press is enough. */
function press(point, sure) {
  const p = play();
  if (!p || sending() || !point.closest("svg.board")) return;
  const does = pressed(p.dataset, point.dataset.point, { sure, ghost: laid[0]?.dataset.at, naming: naming?.points });
  if (!does) return;
  if (does.names) {
    name(point, does.names);
    return;
  }
  clear();
  if (does.shape) lay(point, does.shape);
  if (does.command) make(does.command, does.args);
}

/** Names a stone as dead, or no longer. */
function name(point, at) {
  if (naming.points.delete(at)) {
    laid.find((l) => l.dataset.at === at).remove();
    laid = laid.filter((l) => l.isConnected);
  } else {
    naming.points.add(at);
    lay(point, "C");
  }
}

/** Presses a button of #play. One with a hint asks first: to be pressed again, or for stones. */
function use(button) {
  if (sending()) return;
  const { command, hint, asks } = button.dataset;
  const args = JSON.parse(button.dataset.args);
  if (asks && naming?.button !== button) {
    clear();
    naming = { button, points: new Set() };
    button.setAttribute("aria-pressed", "true");
    answer(hint);
  } else if (asks) {
    const points = [...naming.points].join(" ");
    naming = null;
    button.removeAttribute("aria-pressed");
    answer("");
    if (points) make(command, { ...args, [asks]: points });
  } else if (hint) {
    clear();
    answer(hint, [{ label: button.firstChild.textContent, command, args }]);
  } else {
    clear();
    make(command, args);
  }
}

/** How many presses place a stone, as this browser has chosen; empty: it has not. */
const PRESSES = "halfpoint-presses";

function presses() {
  try {
    return localStorage.getItem(PRESSES) ?? "";
  } catch {
    return "";
  }
}

document.addEventListener("change", (e) => {
  if (e.target.id !== "presses") return;
  try {
    localStorage.setItem(PRESSES, e.target.value);
  } catch {
    // then not
  }
});

/** Takes up fresh contents of the page: without what was laid on the old board. */
function refresh() {
  if (laid.some((l) => !l.isConnected) || naming && !naming.button.isConnected) clear();
  const select = document.querySelector("#presses");
  if (!select) return;
  select.value = presses();
  select.closest("p").hidden = false;
}

document.addEventListener("taken", refresh, true);
refresh();

document.addEventListener("click", (e) => {
  const button = e.target.closest("#play [data-command]");
  if (button) {
    use(button);
    return;
  }
  const point = e.target.closest("[data-point]");
  if (point) press(point, isSure(presses(), e.pointerType));
  else if (!naming) clear();
});

document.addEventListener("keydown", (e) => {
  const point = document.activeElement?.closest?.("[data-point]");
  if (point && (e.key === "Enter" || e.key === " ")) {
    e.preventDefault();
    press(point, true);
  }
});
