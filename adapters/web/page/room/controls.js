// What can be pressed below a message.

import { make, refocus, tell } from './dom.js';
import { say, t } from './words.js';
import { mySeat } from './seats.js';
import { keepEnd } from './scroll.js';
import { put } from './box.js';
import { suggest } from './suggest.js';
import { send } from './send.js';

/**
 * Hides the buttons below what everybody sees that do not help the reader.
 * @param {(game: string, command: string, beside: string[]) => boolean} helps beside: the
 *   commands of all buttons of the message
 */
export function sift(helps) {
  for (const e of document.querySelectorAll('#log .controls:not([data-private] *)')) {
    const buttons = [...e.children].filter((b) => b.does);
    const beside = buttons.map((b) => b.does);
    for (const b of buttons) b.hidden = !helps(e.game, b.does, beside);
  }
}

/** Makes the buttons of a message. */
export function controls(m) {
  const e = make('div', { className: 'controls', game: m.game, kind: m.kind });
  const press = (c, more = {}) => {
    const args = { ...c.args, ...more };
    send({ command: c.command, args, asked: c.ask in args ? t(c.label) + ': ' + args[c.ask] : t(c.label) });
    if (m.private) e.remove();
    refocus();
  };
  for (const c of m.controls) {
    const b = say(make('button', { type: 'button', does: c.command }), c.label); // which is in the language of the room
    b.onclick = () => {
      if (!c.pick) press(c);
      else if (c.pick === 'type') begin(c);
      else pick(c, e, b, press);
    };
    e.append(b);
  }
  return e;
}

/** Begins to type the command of a control that asks for something first. */
function begin(c) {
  const args = Object.entries(c.args ?? {}).filter(([name]) => name !== 'seq');
  put(['/' + c.command, ...args.map(([name, value]) => name + ':' + value), ''].join(' '));
  suggest();
}

/** Asks for something that can be chosen, one or several, below the controls. */
async function pick(c, e, b, press) {
  e.querySelector('.pick')?.remove();
  const { seq, ...args } = c.args ?? {};
  const text = ['/' + c.command, ...Object.entries(args).map(([name, value]) => name + ':' + value), c.ask + ':'].join(' ');
  let choices = [];
  try {
    const answer = await fetch('/suggest?' + new URLSearchParams({ seat: mySeat(), text }));
    if (answer.ok) choices = (await answer.json()).choices;
  } catch { /* then it is typed */ }
  if (!choices.length) return begin(c);
  const close = () => { form.remove(); b.focus(); };
  const several = c.pick === 'several';
  const form = make('form', { className: 'pick', ariaLabel: t(c.label) },
    ...choices.map((choice) => make('label', {},
      make('input', { type: several ? 'checkbox' : 'radio', name: 'choice', value: choice.value }), ' ' + (choice.hint || choice.value))),
    make('button', { type: 'submit', textContent: t(c.label) }),
    say(make('button', { type: 'button', className: 'quiet', onclick: close }), 'Never mind'));
  form.onkeydown = (event) => { if (event.key === 'Escape') close(); };
  form.onsubmit = (event) => {
    event.preventDefault();
    const chosen = [...form.querySelectorAll(':checked')].map((i) => i.value);
    if (!chosen.length) return tell(t('Choose something first.'));
    form.remove();
    press(c, { [c.ask]: chosen.join(' ') });
  };
  keepEnd(() => e.append(form));
  form.querySelector('input').focus();
}
