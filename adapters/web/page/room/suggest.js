// The list of what the text in the message box may go on with.

import { $, make, tell } from './dom.js';
import { t } from './words.js';
import { mySeat } from './seats.js';
import { write } from './box.js';

const input = $('message'), list = $('choices');
let completion = null, at = -1;  // what may be meant, and which of it is chosen
let asking = null;               // the question under way,
let wanted = '';                 // and the key that is meant for its answer

/** What there is: how many suggestions, and whether some are on their way. */
export const under = () => ({ listed: completion?.choices.length ?? 0, asking: !!asking });

/** Whether a suggestion is chosen, which the enter key takes. */
export const accepts = () => at >= 0;

/** Forgets the suggestions, without closing the list before there are others. */
export function forget() {
  completion = null;
  choose(-1);
}

/** Means a key for the suggestions that are on their way. */
export function want(key) {
  wanted = key;
}

/** Chooses the next suggestion, or that before; after the last comes the first. */
export function steps(by) {
  const n = completion.choices.length;
  choose((at + (by > 0 ? 1 : at < 0 ? 0 : -1) + n) % n);
}

/** Asks what the text up to the caret may go on with. */
export async function suggest() {
  asking?.abort();
  wanted = '';
  const text = input.value.slice(0, input.selectionStart);
  if (!text.startsWith('/')) return closeList();
  const mine = asking = new AbortController();
  let c = null;
  try {
    const answer = await fetch('/suggest?' + new URLSearchParams({ seat: mySeat(), text }), { signal: mine.signal });
    if (answer.ok) c = await answer.json();
  } catch { /* typing goes on without */ }
  if (asking !== mine) return; // it has gone on meanwhile
  asking = null;
  if (!c) return closeList();
  openList(c);
  if (!wanted || !c.choices.length) return;
  if (wanted === 'Tab') accept();
  else choose(wanted === 'ArrowDown' ? 0 : c.choices.length - 1);
}

function openList(c) {
  completion = c;
  choose(-1);
  list.replaceChildren(...c.choices.map((choice, i) => {
    const option = make('li', { id: 'choice-' + i, role: 'option', ariaSelected: 'false' },
      make('b', { textContent: choice.value.trim() }), choice.hint ? make('span', { textContent: choice.hint }) : null);
    option.onpointerdown = (event) => event.preventDefault(); // the box keeps the focus
    option.onclick = () => accept(i);
    return option;
  }));
  list.hidden = !c.choices.length;
  list.scrollTop = 0;
  const n = c.choices.length;
  tell([c.hint, n ? t('Suggestions: {0}', n) : ''].filter(Boolean).join(' · '));
}

/** Closes the list. */
export function closeList() {
  asking?.abort();
  asking = null;
  forget();
  list.hidden = true;
}

/** Marks a choice; -1 is none. */
function choose(i) {
  list.querySelector('[aria-selected="true"]')?.setAttribute('aria-selected', 'false');
  at = i;
  if (i < 0) return input.removeAttribute('aria-activedescendant');
  const option = list.children[i];
  option.setAttribute('aria-selected', 'true');
  option.scrollIntoView({ block: 'nearest' });
  input.setAttribute('aria-activedescendant', option.id);
}

/** Takes a suggestion: the chosen one, or else the first. */
export function accept(i = Math.max(at, 0)) {
  const caret = input.selectionStart;
  const head = input.value.slice(0, caret - completion.replace.length) + completion.choices[i].value;
  write(head + input.value.slice(caret));
  input.setSelectionRange(head.length, head.length);
  closeList();
  input.focus();
  if (/[ :]$/.test(head)) suggest(); else tell('');
}
