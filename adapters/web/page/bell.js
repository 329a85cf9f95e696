// Rings when it is the reader's turn and they look at another page: with a sound and, where
// the browser permits it, a notification. It is off until a press switches it on, and the
// browser remembers that.

import { rings, waits } from "./rings.js";

const KEY = "halfpoint-bell";
const isOn = () => { try { return localStorage.getItem(KEY) === "on"; } catch { return false; } };

let audio = null, before = null;
let starting = false; // a sound waits until the audio runs, which may take a while

/** Lets the page make sounds, which browsers permit only after a press. */
function prepare() {
  if (!isOn()) return;
  audio ??= new AudioContext();
  audio.resume();
}
for (const press of ["pointerdown", "keydown"]) document.addEventListener(press, prepare, { passive: true });

/** Plays two short tones as soon as the page can, if they are still wanted then. */
async function sound(wanted) {
  if (!audio || starting) return;
  if (audio.state !== "running") {
    starting = true;
    await audio.resume();
    starting = false;
  }
  if (!wanted()) return;
  [660, 880].forEach((pitch, i) => {
    const at = audio.currentTime + i * .15, tone = audio.createOscillator(), loud = audio.createGain();
    tone.frequency.value = pitch;
    loud.gain.setValueAtTime(.0001, at);
    loud.gain.exponentialRampToValueAtTime(.2, at + .02);
    loud.gain.exponentialRampToValueAtTime(.0001, at + .3);
    tone.connect(loud).connect(audio.destination);
    tone.start(at);
    tone.stop(at + .3);
  });
}

function notify(title, body) {
  if (!("Notification" in window) || Notification.permission !== "granted") return;
  try {
    const n = new Notification(title, { body, tag: KEY, icon: "/icon.svg" });
    n.onclick = () => { window.focus(); n.close(); };
  } catch {
    // on phones only service workers may
  }
}

/** What a view shows, as rings takes it. */
const state = (root) => ({ game: root.dataset.game, newest: Number(root.dataset.newest), mine: waits(root) });

/** Shows the switch of a game, and whether it is on. */
function show(root) {
  const box = root.querySelector("#bell");
  if (!box) return;
  box.checked = isOn();
  box.parentElement.hidden = false;
}

document.addEventListener("change", (e) => {
  if (e.target.id !== "bell") return;
  try { localStorage.setItem(KEY, e.target.checked ? "on" : "off"); } catch { /* then only now */ }
  prepare();
  if (!e.target.checked) return;
  sound(isOn);
  if ("Notification" in window && Notification.permission === "default") Notification.requestPermission();
});

document.addEventListener("taken", ({ target: root }) => { // a view has taken a page over
  show(root);
  const now = state(root);
  if (isOn() && rings(before, now, document.hidden)) {
    sound(() => document.hidden);
    notify(root.querySelector("h1").textContent, root.querySelector(".told")?.dataset.heard ?? "");
  }
  before = now;
}, { capture: true });

const main = document.querySelector("main.game");
if (main) { // else the room has shown nothing yet
  show(main);
  before = state(main);
}
