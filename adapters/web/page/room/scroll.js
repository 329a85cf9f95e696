// The place of the reader in the transcript: whoever reads its end stays there.

import { $ } from './dom.js';

const scroller = $('scroll'), log = $('log'), outbox = $('outbox');

let loading = true; // the history is on its way
let kept = -1;      // where keepEnd left the transcript
let stays = true;   // whether its reader was at the end before the page changed its size

const atEnd = () => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 120;
const follows = () => loading || atEnd() || Math.abs(scroller.scrollTop - kept) < 24;

/**
 * Does what changes the transcript; whoever reads its end stays there, or at the beginning of
 * a message that is longer than the page.
 */
export function keepEnd(change) {
  const stay = follows();
  change();
  stays = stay;
  if (stay) goToEnd(); else $('newest').hidden = false;
}

function goToEnd() {
  const newest = log.lastElementChild;
  if (newest && newest.offsetHeight > scroller.clientHeight && !outbox.childElementCount) {
    newest.scrollIntoView({ block: 'start' });
    kept = scroller.scrollTop;
  } else {
    toEnd();
  }
  stays = true;
}

/** Shows the last line. */
export function toEnd() {
  scroller.scrollTop = scroller.scrollHeight;
  kept = scroller.scrollTop;
  $('newest').hidden = true;
}

/** Shows the end of the history, which is there now. */
export function loaded() {
  loading = false;
  toEnd();
}

// A page that changes its size, or a phone that is turned, keeps the end where it is, also
// when the pictures of the other layout come. Who opens something there reads that.
const sized = new ResizeObserver(() => { if (stays && !loading) goToEnd(); });
sized.observe(scroller);
sized.observe(log);
log.addEventListener('click', (event) => { if (event.target.closest('summary')) stays = false; }, true);
scroller.onscroll = () => {
  stays = follows();
  if (stays) $('newest').hidden = true;
};
