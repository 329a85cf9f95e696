// The stream of messages from the room, which the tabs of one person share.

import { $ } from './dom.js';
import { setBase } from './address.js';
import { speak, t } from './words.js';
import { followTurn, mySeat, seatGiven } from './seats.js';
import { add, empty, has } from './log.js';
import { keepEnd, loaded } from './scroll.js';
import { welcome } from './guide.js';
import * as live from './live.js';
import { Shared } from '../share.js';

let shared = null, seat = null;
let loading = true;    // the history is on its way
let last = 0;          // number of the last message that everybody sees
const lastOwn = {};    // and of the last for one seat alone

// The room wants to know by which host the browser sees it: a proxy may have replaced that.
const nameHost = () => { document.cookie = 'halfpoint-at-' + location.host.replace(/[^a-z0-9]+/g, '-') + '=1; path=/; SameSite=Lax'; };

/** Follows the room in the seat of the reader. */
export function connect(anew = false) {
  const to = mySeat();
  if (!anew && shared && seat === to) return;
  shared?.close();
  seat = to;
  shared = new Shared({
    kinds: ['message', 'reset', 'ready', 'beat'],
    address: () => {
      nameHost();
      const q = new URLSearchParams({ seat: to });
      if (last) q.set('after', last), q.set('own', lastOwn[to] ?? 0);
      return '/events?' + q;
    },
    take: (kind, data) => takes[kind]?.(data && JSON.parse(data)),
    place: () => [last, lastOwn[to] ?? 0],
    behind: ([all, own]) => last < all || (lastOwn[to] ?? 0) < own,
    retry: () => 3000,
  });
}

/** What to do with each kind of event. */
const takes = {
  message(m) {
    if (has(m.n)) return;
    if (m.private) lastOwn[seat] = m.n; else last = m.n;
    keepEnd(() => add(m));
    live.learn(m, loading);
    if (loading) return;
    welcome();
    followTurn();
  },

  reset() {
    last = 0;
    empty();
    live.clear();
  },

  ready(spoken) {
    line('');
    setBase(spoken.url);
    speak(spoken.lang, spoken.words);
    shared.share(spoken.whose && 'halfpoint-room ' + spoken.whose);
    if (!loading) return;
    loading = false;
    if (spoken.seat) { // somebody else sits there
      seatGiven(spoken.seat);
      connect();
    }
    $('log').setAttribute('aria-busy', 'false');
    welcome();
    followTurn();
    loaded();
    live.begin();
  },

  down() {
    line(t('The room does not answer. Trying again…'));
  },
};

document.addEventListener('seated', () => connect());

/** Says what is wrong with the connection. */
function line(text) {
  $('line').textContent = text;
  $('line').hidden = !text;
}
