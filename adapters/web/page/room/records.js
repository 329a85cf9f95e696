// Records and diagrams that are pasted, dropped or chosen.

import { $, tell } from './dom.js';
import { t } from './words.js';
import { looksDrawn } from './drawing.js';
import { put } from './box.js';

/** The longest text in characters, and the longest record in bytes; the room has the same limits. */
export const maxText = 1000, maxRecord = 2 << 20;

/** The record that goes with the next command, a File. */
export let attached = null;

/** Puts a record beside the message box. */
function attach(file) {
  if (file.size > maxRecord) return tell(t('That is too long: at most {0} MB.', maxRecord >> 20));
  attached = file;
  $('attached').hidden = false;
  $('upload').value = '';
  $('attached').firstElementChild.textContent = file.name + ' · ' + Math.ceil(file.size / 1024) + ' kB';
  if (!$('message').value.trim()) put('/show');
  $('message').focus();
  tell(t('Press Enter to show it to everybody. To play on from it, write /setup.'));
}

/** Takes the record away. */
export function detach() {
  attached = null;
  $('attached').hidden = true;
  $('upload').value = '';
}

/** What a file holds, in base64. */
export const base64 = (file) => new Promise((resolve, reject) => {
  const reader = new FileReader();
  reader.onload = () => resolve(reader.result.split(',')[1] ?? '');
  reader.onerror = reject;
  reader.readAsDataURL(file);
});

/**
 * Takes what is pasted or dropped, and reports whether it did: files, and drawings that are
 * long or come into an empty box.
 */
export function take(data) {
  const text = data.getData('text'), empty = !$('message').value.trim();
  if (data.files.length) attach(data.files[0]);
  else if (text.length > maxText && (looksDrawn(text) || !empty)) attach(new File([text], t('pasted text')));
  else if (empty && looksDrawn(text)) {
    put('/show ' + text);
    tell(t('Press Enter to show it to everybody. To play on from it, write /setup.'));
  } else return false;
  return true;
}

$('upload').onchange = () => { if ($('upload').files.length) attach($('upload').files[0]); };
$('detach').onclick = () => { detach(); $('message').focus(); };
