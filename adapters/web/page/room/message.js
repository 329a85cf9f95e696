// What a message of the transcript looks like.

import { make, refocus } from './dom.js';
import { lang, say, t } from './words.js';
import { seats, table } from './table.js';
import { splitTurns } from './turns.js';
import { controls } from './controls.js';
import { picture } from './picture.js';

/** Makes the element of a message. */
export function element(m) {
  const at = new Date(m.at);
  const bot = !m.from, command = !bot && /^[/!]/.test(m.text);
  const e = make('article', { below: m.after, className: 'message ' + (bot ? 'bot' : 'person') + (m.kind ? ' ' + m.kind : '') });
  const head = make('header', {},
    seats.includes(m.from) ? say(make('bdi', { className: 'from' }), m.from) : make('bdi', { className: 'from', textContent: m.from || 'Halfpoint' }),
    bot ? say(make('span', { className: 'badge' }), 'bot') : null,
    make('time', { dateTime: m.at, title: at.toLocaleString(lang),
      textContent: at.toLocaleTimeString(lang, { hour: '2-digit', minute: '2-digit' }) }));
  if (m.from === 'Black' || m.from === 'White') e.classList.add(m.from.toLowerCase());
  else if (m.from) e.dataset.initial = [...m.from.replace(/[\u2066-\u2069]/g, '')][0] ?? '';
  e.append(head);
  if (m.private) {
    e.dataset.private = '';
    const dismiss = say(make('button', { type: 'button', className: 'quiet' }), 'Dismiss');
    dismiss.onclick = () => { e.remove(); refocus(); };
    head.append(say(make('span', { className: 'only' }), 'Only you can see this'), dismiss);
  }
  if (m.asked) e.append(make('p', { className: 'asked', dir: 'auto', textContent: m.asked }));
  if (m.text || m.to) e.append(textOf(m, bot, command));
  if (m.picture) e.append(picture(m));
  if (m.file) e.append(make('p', {}, make('a', { className: 'file', href: m.file.url, download: m.file.name, textContent: m.file.name })));
  if (m.controls) e.append(m.bar = controls(m));
  return e;
}

function textOf(m, bot, command) {
  const text = make('p', { className: 'text', dir: 'auto' });
  const uncalled = (m.to ?? []).filter((name) => !m.text?.includes('@' + name));
  uncalled.forEach((name, i) => text.append(make('bdi', { className: 'to', textContent: '@' + (seats.includes(name) ? t(name) : name) }), i + 1 < uncalled.length ? ' ' : ': '));
  for (const part of m.parts ?? [{ text: m.text ?? '' }]) text.append(...(part.time ? [instant(part)] : part.link ? [make('a', { href: part.text, textContent: part.text, target: '_blank', dir: 'ltr' })] : bot ? linked(part.text) : command ? [part.text] : turnsLinked(part.text)));
  if (command) text.classList.add('command');
  return text;
}

/** Makes a link of the address at which somebody becomes a moderator. */
const linked = (text) => text.split(/(\/owner)\b/).map((s) => (s === '/owner' ? make('a', { href: s, textContent: s }) : s));

/**
 * Makes links of the turns of the game that somebody talks about. The room finds what stands
 * under that number when the link is followed.
 */
function turnsLinked(text) {
  const { page, turns } = table.about ?? {};
  return splitTurns(text, page ? turns : 0).map((s, i) => (
    i % 2 ? make('a', { href: page.replace(/\d+$/, 'turn/' + s.slice(1)), target: '_blank', dir: 'ltr', textContent: s }) : s));
}

/**
 * Writes an instant as the reader's own clock and language have it; what the bot calls it is
 * there to be looked up.
 */
function instant(part) {
  const at = new Date(part.time);
  const options = { weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', timeZoneName: 'short' };
  if (at.getFullYear() !== new Date().getFullYear()) options.year = 'numeric';
  return make('time', { dateTime: part.time, title: part.text, textContent: at.toLocaleString(lang, options) });
}
