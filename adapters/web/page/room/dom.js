// Elements, and what the browser remembers of a reader's choices.

export const $ = (id) => document.getElementById(id);

/** Creates an element. What people wrote only ever becomes text. */
export function make(tag, props = {}, ...children) {
  const e = Object.assign(document.createElement(tag), props);
  e.append(...children.filter((c) => c != null));
  return e;
}

/** Keeps what a tab chose. */
export function remember(key, value) {
  try { sessionStorage.setItem(key, value); localStorage.setItem(key, value); } catch { /* then not */ }
}

/** What the tab chose; in a new tab what was chosen last in any. */
export function recall(key) {
  try { return sessionStorage.getItem(key) ?? localStorage.getItem(key); } catch { return null; }
}

/** What a press is made with, the scheme of colours, and how much room there is. */
export const touch = matchMedia('(pointer: coarse)');
export const dark = matchMedia('(prefers-color-scheme: dark)');
export const narrow = matchMedia('(max-width: 40rem)'); // then the panel is under the board
export const wide = matchMedia('(min-width: 64rem)'); // then the guide is beside the talk

/** Says something about the page itself, to eyes and to screen readers. */
export function tell(text) {
  $('hint').textContent = text;
}

/** Goes back to the message box, unless that raises a phone's keyboard. */
export function refocus() {
  if (!touch.matches) $('message').focus();
}
