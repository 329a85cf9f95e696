// What the reader sends, until the room has answered.

import { uuid } from '../ask.js';
import { $, make } from './dom.js';
import { lang, say, t } from './words.js';
import { mySeat } from './seats.js';
import { keepEnd, toEnd } from './scroll.js';
import { add } from './log.js';
import { welcome } from './guide.js';
import { connect } from './stream.js';

let sending = Promise.resolve(); // one after the other, in order

/** Submits what was typed or pressed, under an id that all tries share. */
export function send(what) {
  const s = { id: uuid(), seat: mySeat(), ...what };
  const state = make('span', { className: 'state', textContent: t('sending…') });
  const e = make('article', { className: 'message pending' },
    make('p', { className: 'asked', dir: 'auto', textContent: s.asked ?? s.text }), state);
  const go = () => { sending = sending.then(() => submit(s, e, state, go)); };
  $('outbox').append(e);
  toEnd();
  go();
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function submit(s, e, state, again) {
  const { asked, ...body } = s;
  state.textContent = t('sending…');
  for (let wait = 500, tries = 0; tries < 8; tries++, wait = Math.min(2 * wait, 8000)) {
    let problem = t('The room does not answer.'), later = 0;
    try {
      const answer = await fetch('/ask', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(40000),
      });
      if (answer.ok) {
        const a = await answer.json();
        keepEnd(() => {
          e.remove();
          if (a.private) add({ ...a.message, asked: asked ?? s.text });
        });
        if (a.private) welcome();
        if (a.lang && a.lang !== lang) connect(true); // which brings the words
        return;
      }
      problem = (await answer.text()).trim();
      later = answer.headers.get('Retry-After') ?? 0; // somebody types too fast
      if (answer.status < 500 && answer.status !== 429) {
        state.textContent = t('Not sent: {0}', problem);
        return;
      }
    } catch { /* no network, or cut off: the same id again */ }
    state.textContent = t('Not sent yet: {0} Trying again…', problem);
    await pause(Math.max(wait, 1000 * later));
  }
  const b = say(make('button', { type: 'button', className: 'quiet' }), 'Try again');
  b.onclick = again;
  state.replaceChildren(t('Not sent: {0}', t('The room does not answer.')), ' ', b);
}
