// The stream of messages from the room.

import { $ } from './dom.js';
import { setBase } from './address.js';
import { speak, t } from './words.js';
import { followTurn, mySeat, seatGiven } from './seats.js';
import { add, empty, has } from './log.js';
import { keepEnd, loaded } from './scroll.js';
import { welcome } from './guide.js';
import * as live from './live.js';

let stream = null, retry = 0, streamSeat = null;
let loading = true;    // the history is on its way
let last = 0;          // number of the last message that everybody sees
const lastOwn = {};    // and of the last for one seat alone

// The room wants to know by which host the browser sees it: a proxy may have replaced that.
const nameHost = () => { document.cookie = 'halfpoint-at-' + location.host.replace(/[^a-z0-9]+/g, '-') + '=1; path=/; SameSite=Lax'; };

/** Follows the room in the seat of the reader. */
export function connect(anew = false) {
  const to = mySeat();
  if (!anew && stream && streamSeat === to && stream.readyState !== EventSource.CLOSED) return;
  stream?.close();
  clearTimeout(retry);
  streamSeat = to;
  nameHost();
  const q = new URLSearchParams({ seat: to });
  if (last) q.set('after', last), q.set('own', lastOwn[to] ?? 0);
  const s = stream = new EventSource('/events?' + q);
  s.onmessage = (event) => {
    const m = JSON.parse(event.data);
    if (has(m.n)) return;
    if (m.private) lastOwn[to] = m.n; else last = m.n;
    keepEnd(() => add(m));
    live.learn(m, loading);
    if (loading) return;
    welcome();
    followTurn();
  };
  s.addEventListener('reset', () => {
    last = 0;
    empty();
    live.clear();
  });
  s.addEventListener('ready', (event) => {
    line('');
    const spoken = JSON.parse(event.data);
    setBase(spoken.url);
    speak(spoken.lang, spoken.words);
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
  });
  s.onerror = () => {
    line(t('The room does not answer. Trying again…'));
    // The browser tries again by itself, unless the room refused.
    if (s.readyState === EventSource.CLOSED) retry = setTimeout(connect, 3000);
  };
}

document.addEventListener('seated', () => connect());

/** Says what is wrong with the connection. */
function line(text) {
  $('line').textContent = text;
  $('line').hidden = !text;
}
