// The transcript: its messages, in order.

import { $ } from './dom.js';
import { clear, learn } from './table.js';
import { showTurn } from './seats.js';
import { element } from './message.js';
import { announce } from './announce.js';
import { keepOneStop } from './stops.js';

const log = $('log');
const shown = new Map(); // elements by number of message

/** Whether a message is there, or was. */
export const has = (n) => shown.has(n);

keepOneStop(log);

/** Forgets all messages. */
export function empty() {
  shown.clear();
  log.replaceChildren();
  clear();
  showTurn();
}

/** Puts a message into the transcript, in the place of the one that it replaces. */
export function add(m) {
  const gone = (m.replaces ?? []).map((n) => shown.get(n)).filter((e) => e?.isConnected);
  if (m.removed) {
    for (const e of gone) {
      const bar = e.querySelector('.controls');
      if (bar?.kind === 'show') e.previousElementSibling?.append(bar);
      e.remove();
    }
    return;
  }
  const old = gone[0];
  const e = element(m);
  // What can be pressed for a board moves below what is said about it, which is read now.
  const bar = m.kind === 'notice' && !m.private && !m.controls && [...log.querySelectorAll('.controls')].find((c) => c.game === m.game && c.kind === 'show');
  if (bar) e.append(bar);
  if (m.n) shown.set(m.n, e);
  if (learn(m)) showTurn();
  // What could be pressed below an older post of the game is over: below one of
  // the same kind, and below any when there is a new board.
  if (m.game && m.kind) {
    for (const c of log.querySelectorAll('.controls')) {
      if (c.game === m.game && (m.kind === 'show' || c.kind === m.kind)) c.remove();
    }
  }
  // A reminder that is said again is news: it stands at the end, and once.
  if (old && m.kind !== 'status') {
    old.replaceWith(e);
  } else {
    old?.remove();
    // An answer may be here before what it is about.
    const below = m.n && [...log.children].find((answer) => answer.below >= m.n);
    log.insertBefore(e, below || null);
  }
  announce(m);
}
