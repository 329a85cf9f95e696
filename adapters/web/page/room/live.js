// The live board: the page of a game as the main view of the room, beside the talk.

import { GameView } from '../view.js';
import '../play.js';
import { $, make } from './dom.js';
import { say, t } from './words.js';
import { isMine, mySeat, myName, showTurn, sit } from './seats.js';
import { lookAt } from './table.js';
import { Games } from './games.js';
import { sift } from './controls.js';
import { hear } from '../hear.js';
import '../bell.js';

const games = new Games();
let view = null, open = ''; // what is shown, and the path of its page
let unread = 0; // messages since the talk was seen, where it lies behind the board

/** Learns from a message, and shows what it has changed. */
export function learn(m, history) {
  const fresh = games.learn(m);
  if (history) return;
  const follows = fresh && (fresh.players.includes(myName()) || !games.at(open)?.players.includes(myName()));
  if (follows || !open) show(fresh?.page ?? '');
  else if (games.concerns(m, open) && !(m.page && seqOf(m.page) <= Number(view.newest))) view.update();
  list();
  if (!talking()) count(unread + 1);
}

const seqOf = (page) => Number(/\d+$/.exec(page));

/** Shows a board when the history is there: the one that the address names, or the first. */
export function begin() {
  const [, seat, page] = /^#(black|white)?(\/g\/[^/]+)?$/.exec(location.hash) ?? [];
  if (location.hash) history.replaceState(null, '', location.pathname);
  if (seat) sit(seat);
  const first = page ?? games.first(myName())?.page;
  if (first && first !== open) show(first);
  else view?.refresh(); // what came with the page is for nobody in this seat
  list();
}

/** Forgets all games: the transcript begins anew. */
export function clear() {
  games.clear();
  list();
}

// The page may have come with a board.
if ($('live').dataset.game) {
  open = $('live').dataset.game;
  view = new GameView($('live'), open, { from: seated });
  lay();
}

/** Shows the game with a page; an empty path: none. */
function show(page) {
  if (page === open || !page && !view) return;
  view?.close();
  view = null;
  open = page;
  if (!page) {
    $('live').replaceChildren();
    return lay();
  }
  delete $('live').dataset.newest;
  $('live').dataset.game = page;
  view = new GameView($('live'), page, { from: seated });
  view.show(page);
}

/** The address of a page for somebody in the seat of the reader. */
function seated(url) {
  return new URL(url, location.href).pathname === open ? open + '?' + new URLSearchParams({ seat: mySeat() }) : url;
}

$('live').addEventListener('taken', () => {
  const there = !!$('live').querySelector('.steps'); // else the game has no page any more
  if (!there) show('');
  else $('live').classList.add('playing'); // so that all that a turn needs is seen
  document.body.classList.toggle('board-contrast', $('live').classList.contains('board-contrast'));
  const heard = $('live').querySelector('.told')?.dataset.heard;
  if (heard) hear(heard);
  lay();
  list();
});

/** Lays the page out, with the board or without. */
function lay() {
  const live = !!view;
  if ($('switch').hidden === !live) return;
  document.body.classList.toggle('live', live);
  $('game').hidden = $('switch').hidden = !live;
  $('log').ariaLive = live ? 'off' : 'polite'; // the page says itself what is new, in few words
  talk(false);
  document.dispatchEvent(new Event('laid'));
}

/** Names the games that the reader can choose from, and says what the one that is shown awaits. */
function list() {
  const all = games.list(myName());
  if (open && games.at(open) && !all.some((g) => g.page === open)) all.push(games.at(open));
  $('games').hidden = !view || all.length < 2;
  document.body.classList.toggle('several', !$('games').hidden);
  $('games').replaceChildren(...all.map((g) => {
    const a = make('a', { href: g.page, className: isMine(g.due) && !g.over ? 'mine' : '' },
      say(make('strong'), 'Game {0}', g.number), g.next ? ' ' + g.next : '');
    if (g.page === open) a.setAttribute('aria-current', 'true');
    return make('li', {}, a);
  }));
  sift((...button) => !view || games.helps(...button, myName()));
  lookAt(view && games.at(open)?.id);
  showTurn();
}

$('games').addEventListener('click', (event) => {
  const link = event.target.closest('a');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  show(link.getAttribute('href'));
  list();
});

// A free seat is taken here, without leaving the page.
$('live').addEventListener('click', (event) => {
  const seat = /^\/#(black|white)\//.exec(event.target.closest('a')?.getAttribute('href'))?.[1];
  if (!seat) return;
  event.preventDefault();
  sit(seat);
});

document.addEventListener('seated', () => {
  view?.refresh();
  list();
});

// Where there is no room for both, the board or the talk is seen.
const talking = () => !view || !$('game').checkVisibility() || $('scroll').checkVisibility();

function talk(on) {
  document.body.classList.toggle('talking', on);
  count(0);
}

function count(n) {
  unread = n;
  const on = document.body.classList.contains('talking');
  $('switch').textContent = on ? t('Board') : t('Talk') + (n ? ' (' + n + ')' : '');
}

$('switch').onclick = () => talk(!document.body.classList.contains('talking'));
document.addEventListener('spoken', () => count(unread));
