// Says new messages to those who hear the room, while the live board says what the turns do.

import { $ } from './dom.js';
import { hear } from '../hear.js';
import { t } from './words.js';
import { seats } from './table.js';
import { heard } from './heard.js';

/** Says a message that has just come. Without the live board, the transcript does that by itself. */
export function announce(m) {
  if (!document.body.classList.contains('live') || $('log').ariaBusy === 'true') return;
  const text = heard(m, $('live').dataset.game, (name) => (seats.includes(name) ? t(name) : name));
  if (text) hear(text);
}
