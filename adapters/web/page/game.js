// The page of a game: shows it, and follows it from now on.

import { GameView } from "./view.js";
import { hear } from "./hear.js";
import "./bell.js";
import "./play.js";
import { following } from "./follow.js";
import { Shared } from "./share.js";
import { markDead } from "./dead.js";

const main = document.querySelector("main");
const view = new GameView(main, location.href, { address: true });

let shared, newest = view.newest;

main.addEventListener("taken", ({ detail: page }) => {
  if (!main.querySelector(".steps")) shared?.close(); // there is no page any more
  document.title = page.title;
  document.body.className = page.body.className;
  document.documentElement.lang = page.documentElement.lang;
  document.documentElement.dir = page.documentElement.dir;
  hear(main.querySelector(".told")?.dataset.heard ?? main.querySelector("h1").textContent);
});

/** Takes a change of the game, which may have happened before the page was made. */
function changed(now) {
  if (now === newest) return;
  newest = now;
  view.update(); // also an earlier moment has more turns after it now
}

if ("record" in main.dataset) markDead(view, main);
else shared = new Shared(following(view.game.replace("/g/", ""), changed, () => view.update()));
