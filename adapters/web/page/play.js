// Lets somebody who plays in the game of a page make turns on it. The server says in #play
// what they may do; a turn appears at once, and is taken back if it is refused.

import { uuid } from "./ask.js";

const SVG = "http://www.w3.org/2000/svg";
const play = () => document.querySelector("#play");

/** Whether a turn is under way: until it is answered, presses do nothing. */
const sending = () => "sending" in document.body.dataset;

/** A stone that is not on the board yet: a ghost that another press places, or a turn under way. */
let laid = null;

function clear() {
  laid?.remove();
  laid = null;
}

/** Lays a shape of the board, "X", "O", or their ghosts "G" and "H", on a point. */
function lay(point, shape) {
  clear();
  laid = document.createElementNS(SVG, "use");
  laid.setAttribute("href", `#b${shape}`);
  laid.setAttribute("x", point.getAttribute("x"));
  laid.setAttribute("pointer-events", "none");
  laid.dataset.at = point.dataset.point;
  point.parentNode.append(laid);
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
  }
}

/** Presses a point: at once, or as the second press on the same point. */
function press(point, sure) {
  const p = play();
  if (!p || sending() || !point.closest("svg.board")) return;
  const at = point.dataset.point;
  if ("marks" in p.dataset) {
    const dead = p.dataset.dead.split(" ").includes(at);
    const args = (dead && p.dataset.alive) || p.dataset.press;
    if (args) make("dead", { ...JSON.parse(args), points: at });
  } else if (p.dataset.stone) {
    const black = p.dataset.stone === "b";
    if (!sure && laid?.dataset.at !== at) {
      lay(point, black ? "G" : "H");
      return;
    }
    lay(point, black ? "X" : "O");
    make("place", { ...JSON.parse(p.dataset.press), at });
  }
}

document.addEventListener("click", (e) => {
  const button = e.target.closest("#play [data-command]");
  if (button) {
    clear();
    make(button.dataset.command, JSON.parse(button.dataset.args));
    return;
  }
  const point = e.target.closest("[data-point]");
  if (point) press(point, e.pointerType === "mouse");
  else clear();
});

document.addEventListener("keydown", (e) => {
  const point = document.activeElement?.closest?.("[data-point]");
  if (point && (e.key === "Enter" || e.key === " ")) {
    e.preventDefault();
    press(point, true);
  }
});
