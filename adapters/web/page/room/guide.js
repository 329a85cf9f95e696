// How to play.

import { $, recall, remember, tell, wide } from './dom.js';
import { t } from './words.js';
import { put } from './box.js';

const guide = $('guide');

/** Whether the guide has room beside the talk. */
const roomy = () => wide.matches && !document.body.classList.contains('live');

function showGuide(open) {
  guide.hidden = !open;
  $('talk').inert = open && !roomy(); // it lies behind
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
  else if (!roomy()) showGuide(false);
}

const settle = () => showGuide(roomy() ? recall('guide') !== 'closed' : !$('log').childElementCount);
wide.onchange = settle;
document.addEventListener('laid', settle); // with the live board, or without

$('guide-button').onclick = () => {
  showGuide(guide.hidden);
  if (roomy()) remember('guide', guide.hidden ? 'closed' : 'open');
  if (!guide.hidden) $('guide-close').focus();
};

$('guide-close').onclick = () => {
  showGuide(false);
  if (roomy()) remember('guide', 'closed');
  $('guide-button').focus();
};

guide.onclick = (event) => {
  const example = event.target.closest('.example');
  if (!example) return;
  put(example.textContent);
  if (!roomy()) showGuide(false);
  tell(t('Press Enter to send it.'));
};

showGuide(wide.matches && recall('guide') !== 'closed');
