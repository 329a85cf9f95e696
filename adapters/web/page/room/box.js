// The message box.

import { $, tell } from './dom.js';
import { t } from './words.js';
import { nameless } from './seats.js';
import { Past } from './past.js';
import { accept, accepts, closeList, forget, steps, suggest, under, want } from './suggest.js';
import { attached, base64, detach, maxText, take } from './records.js';
import { send } from './send.js';

const form = $('form'), input = $('message');
const past = new Past();

/** Puts a text into the message box. What was there comes back with the up key. */
export function put(text) {
  past.add(input.value.trim());
  write(text);
  input.focus();
}

/** Puts a text into the box, which is as high as the text, within limits. */
export function write(text) {
  input.value = text;
  fit();
}

const fit = () => { input.rows = Math.min(6, input.value.split('\n').length); };

form.onsubmit = async (event) => {
  event.preventDefault();
  if (accepts()) return accept(); // the enter key, on a choice
  const text = input.value.trim();
  closeList();
  if (!text) return;
  const command = /^[/!]/.test(text);
  if (!command && [...text].length > maxText) return tell(t('That is too long: at most {0} characters.', maxText));
  if (!command && attached) return tell(t('A record goes with /show or /setup, and nothing else is drawn beside it.'));
  if (nameless()) {
    tell(t('Type your name first.'));
    $('name').focus();
    return;
  }
  tell('');
  const record = attached;
  detach();
  past.add(text);
  write('');
  if (!record) return send({ text });
  const { name } = record;
  try {
    send({ text, asked: text + ' (' + name + ')', file: { name, data: await base64(record) } });
  } catch {
    tell(t('{0} cannot be read.', name));
    write(text);
  }
};

input.onpaste = (event) => { if (take(event.clipboardData)) event.preventDefault(); };
document.ondragover = (event) => { if (event.target !== input || event.dataTransfer.types.includes('Files')) event.preventDefault(); };
document.ondrop = (event) => { if (take(event.dataTransfer) || event.target !== input) event.preventDefault(); };

input.oninput = () => {
  fit();
  forget(); // what was suggested was for another text
  tell('');
  suggest();
};
input.onblur = () => closeList();

// The enter key sends, with Shift it breaks the line. (Some keyboards of phones do not tell
// which key it was, but all tell what it would do.)
let shifted = false;
input.onbeforeinput = (event) => {
  if (event.inputType !== 'insertLineBreak' || shifted) return;
  event.preventDefault();
  form.requestSubmit();
};

input.onkeydown = (event) => {
  shifted = event.shiftKey;
  if (event.isComposing || event.keyCode === 229 || event.ctrlKey || event.altKey || event.metaKey) return;
  const { listed, asking } = under();
  switch (event.key) {
    case 'ArrowDown':
    case 'ArrowUp': {
      const beyond = event.key === 'ArrowUp' ? input.value.slice(0, input.selectionStart) : input.value.slice(input.selectionEnd);
      if (!listed && !asking && beyond.includes('\n')) return; // to another line
      event.preventDefault();
      if (listed) steps(event.key === 'ArrowDown' ? 1 : -1);
      else if (asking) want(event.key);
      else recallSent(event.key === 'ArrowUp' ? 1 : -1);
      break;
    }
    case 'Tab':
      if (event.shiftKey || !listed && !asking) return;
      event.preventDefault();
      if (listed) accept(); else want('Tab');
      break;
    case 'Escape':
      closeList();
  }
};

function recallSent(step) {
  const line = past.step(step);
  if (line !== null) write(line);
}
