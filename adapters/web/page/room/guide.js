// How to play.

import { $, recall, remember, tell, wide } from './dom.js';
import { t } from './words.js';
import { put } from './box.js';

const guide = $('guide');

function showGuide(open) {
  guide.hidden = !open;
  document.querySelector('main').inert = open && !wide.matches; // it lies behind
  $('guide-button').setAttribute('aria-expanded', String(open));
}

/**
 * Shows the guide to whoever comes into an empty room; on a narrow page it makes way for the
 * first message.
 */
export function welcome() {
  const empty = !$('log').childElementCount;
  $('empty').hidden = !empty;
  if (empty) showGuide(true);
  else if (!wide.matches) showGuide(false);
}

wide.onchange = () => showGuide(wide.matches ? recall('guide') !== 'closed' : !$('log').childElementCount);

$('guide-button').onclick = () => {
  showGuide(guide.hidden);
  if (wide.matches) remember('guide', guide.hidden ? 'closed' : 'open');
  if (!guide.hidden) $('guide-close').focus();
};

$('guide-close').onclick = () => {
  showGuide(false);
  if (wide.matches) remember('guide', 'closed');
  $('guide-button').focus();
};

guide.onclick = (event) => {
  const example = event.target.closest('.example');
  if (!example) return;
  put(example.textContent);
  if (!wide.matches) showGuide(false);
  tell(t('Press Enter to send it.'));
};

showGuide(wide.matches && recall('guide') !== 'closed');
