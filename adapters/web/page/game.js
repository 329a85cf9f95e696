// The page of a game: shows it, and follows it from now on.

import { GameView } from "./view.js";
import { hear } from "./hear.js";
import "./bell.js";
import "./play.js";
import { markDead } from "./dead.js";

const main = document.querySelector("main");
const view = new GameView(main, location.href, { address: true });

main.addEventListener("taken", ({ detail: page }) => {
  document.title = page.title;
  document.body.className = page.body.className;
  document.documentElement.lang = page.documentElement.lang;
  document.documentElement.dir = page.documentElement.dir;
  hear(main.querySelector(".told")?.dataset.heard ?? main.querySelector("h1").textContent);
});

let following, newest = view.newest, reconnecting = 0;

/** Follows the game from now on. */
function follow() {
  following?.close();
  following = new EventSource(view.game + "/follow");
  listen(45); // three beats of the server: a computer that slept may never hear that the connection is gone
  following.addEventListener("message", (e) => {
    listen(45);
    if (e.data === newest) return;
    newest = e.data;
    view.update(); // also an earlier moment has more turns after it now
  });
  following.addEventListener("gone", () => {
    following.close();
    clearTimeout(reconnecting);
    view.update();
  });
  following.addEventListener("error", () => {
    if (following.readyState !== EventSource.CLOSED) return; // the browser tries again
    listen(10 + 10 * Math.random()); // not all pages at once
    view.update(); // there may be no page any more
  });
}

/** Follows the game anew if nothing is heard of it for some seconds, and it has a page. */
function listen(seconds) {
  clearTimeout(reconnecting);
  reconnecting = setTimeout(() => main.querySelector(".steps") && follow(), 1000 * seconds);
}

if ("record" in main.dataset) markDead(view, main);
else follow();
