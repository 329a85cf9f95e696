// What the page itself says is in English here and in index.html; the room sends the words
// of another language, by the English ones.

import { recall, remember } from './dom.js';

let words = {};

/** The language of the page, as a BCP 47 tag. */
export let lang = 'en';

/** Translates English words, with args for {0}, {1} …. */
export const t = (english, ...args) => (words[english] ?? english).replace(/\{(\d)\}/g, (_, i) => args[i]);

const labels = ['aria-label', 'placeholder'];

/**
 * Puts English words and their translation on an element. Elements that hold others, or a
 * sign, have them as labels alone.
 */
export function say(e, english, ...args) {
  e.said = { text: [english, ...args] };
  e.dataset.t = '';
  translate(e);
  return e;
}

/** Words an element again that has data-t, or was worded by say. */
function translate(e) {
  if (!e.said) {
    const text = e.hasAttribute('aria-label') ? '' : e.textContent;
    e.said = { text: text && [text], ...Object.fromEntries(labels.filter((l) => e.hasAttribute(l)).map((l) => [l, [e.getAttribute(l)]])) };
  }
  for (const [where, what] of Object.entries(e.said)) {
    if (!what) continue;
    if (where === 'text') e.textContent = t(...what); else e.setAttribute(where, t(...what));
  }
}

/** Changes the language of the page, and tells the document of it by the event "spoken". */
export function speak(tag, other) {
  [lang, words] = [tag, other ?? {}];
  remember('words', JSON.stringify({ lang, words }));
  document.documentElement.lang = lang;
  document.querySelectorAll('[data-t]').forEach(translate);
  document.dispatchEvent(new Event('spoken'));
}

/** Speaks as the page did when it was open last, until the room says how. */
export function speakAgain() {
  try {
    const last = JSON.parse(recall('words'));
    if (last) speak(last.lang, last.words);
  } catch { /* the room says it */ }
}
