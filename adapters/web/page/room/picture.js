// The picture of a board or a chart in a message, on which the player to move may press.

import { $, dark, make, narrow, refocus, tell } from './dom.js';
import { base } from './address.js';
import { say, t } from './words.js';
import { nextIn, plays } from './table.js';
import { isMine, myName } from './seats.js';
import { nearest } from './points.js';
import { send } from './send.js';

const source = (m, size) => m.picture + '&theme=' + (dark.matches ? 'slate' : '') + '&layout=' + (narrow.matches ? 'portrait' : '') + '&size=' + size;

// The pictures of a board in pixels, and those of a chart or a table, of which the message tells
// how wide and high the medium one is.
const board = { small: { width: 720, height: 495 }, medium: { width: 960, height: 660 }, large: { width: 1440, height: 990 } };
const portrait = { small: { width: 498, height: 798 }, medium: { width: 664, height: 1064 }, large: { width: 996, height: 1596 } };
const chart = (wide, high) => {
  const times = (factor) => ({ width: Math.round(wide * factor), height: Math.round(high * factor) });
  return { small: times(.75), medium: times(1), large: times(1.5) };
};
const boundsOf = (m) => m.high ? chart(m.wide, m.high) : narrow.matches ? portrait : board;

/** Makes the figure of a message. */
export function picture(m) {
  // The words alone, and not the board in letters: every new message is read out.
  const img = make('img', { alt: m.high ? m.alt : m.alt.split('\n')[0], decoding: 'async', loading: 'lazy', fetchPriority: 'low' });
  const load = () => {
    const bounds = boundsOf(m);
    img.sizes = m.high ? '(max-width: 30rem) 92vw, 27rem' : small() ? '6.5rem' : '(max-width: 50rem) 92vw, 45rem';
    Object.assign(img, bounds.medium);
    img.srcset = Object.keys(bounds).map((size) => source(m, size) + ' ' + bounds[size].width + 'w').join(', ');
    img.src = source(m, 'medium');
  };
  img.reload = load;
  const larger = say(make('button', { type: 'button', className: 'quiet' }), 'Full size');
  larger.onclick = () => enlarge(m);
  load();
  const link = { className: 'quiet', href: m.page, target: '_blank' };
  const open = m.page && (m.kind === 'sheet' ? say(make('a', link), 'Open the table') : say(make('a', link), 'Open the board'));
  const copy = open && navigator.clipboard && say(make('button', { type: 'button', className: 'quiet' }), 'Copy address');
  if (copy) copy.onclick = () => navigator.clipboard.writeText(new URL(m.page, base).href).then(() => tell(t('The address is copied.')), () => {});
  const e = make('figure', { className: m.high ? 'chart' : '' }, img,
    make('figcaption', {}, open || null, copy || null, larger,
      make('details', {}, say(make('summary'), 'In words'), make('pre', { textContent: m.alt }))));
  playable(m, e, img);
  return e;
}

/** Whether the live board shows what is played, so that a picture in the talk is only a picture. */
const small = () => document.body.classList.contains('live');

/**
 * Lets the player to move place a stone by a click on the board: the mouse shows where, a
 * finger presses twice. When play has stopped, a click marks a group as dead, or as alive
 * again. Others are told whose turn it is. A picture on which nothing can be placed is
 * enlarged.
 */
function playable(m, e, img) {
  const place = m.lines && m.controls?.find((c) => c.command === 'place' || c.command === 'dead' && !c.args?.as);
  const marks = place?.command === 'dead';
  const ghost = make('span', { className: 'ghost ' + (marks ? '' : m.color ?? ''), hidden: true });
  if (place) e.append(ghost);
  // why says why the person in this seat cannot use the board.
  const why = () => {
    if (!m.bar?.isConnected) return t('This is an earlier board. The newest one is at the end.');
    if (isMine(m.due ?? [])) return '';
    return plays(m, myName()) ? t('It is not your turn. {0}.', nextIn(m.game)) : t('You are watching. {0}.', nextIn(m.game));
  };
  const pointAt = (event) => {
    if (!place || small() || why()) return null;
    const tall = img.naturalHeight > img.naturalWidth;
    const scale = (tall ? portrait : board).medium.width / img.clientWidth;
    const box = img.getBoundingClientRect();
    const at = nearest(m.lines, tall ? 'portrait' : 'landscape', (event.clientX - box.left) * scale, (event.clientY - box.top) * scale);
    const px = (n) => n / scale + 'px';
    return at && { name: at.name, style: { left: px(at.x), top: px(at.y), width: px(at.cell * .9), height: px(at.cell * .9) } };
  };
  const aim = (p) => {
    ghost.hidden = !p;
    ghost.dataset.point = p?.name ?? '';
    img.classList.toggle('playable', !!p);
    if (p) Object.assign(ghost.style, p.style);
  };
  img.onpointermove = (event) => { if (event.pointerType === 'mouse') aim(pointAt(event)); };
  img.onpointerleave = (event) => { if (event.pointerType === 'mouse') aim(null); };
  img.onclick = (event) => {
    if (!place || small()) return enlarge(m);
    refocus();
    if (why()) return tell(why());
    const p = pointAt(event);
    if (!p) return;
    if (event.detail > 1 && event.pointerType === 'mouse') return; // the second of two clicks
    if (marks) {
      const as = m.lines.dead?.includes(p.name) ? 'alive' : 'dead';
      return send({ command: 'dead', args: { ...place.args, points: p.name, as }, asked: p.name + ' ' + t(as) });
    }
    if (event.pointerType === 'touch' && ghost.dataset.point !== p.name) {
      aim(p);
      return tell(t('Press {0} again to place a stone there.', p.name));
    }
    aim(null);
    tell('');
    send({ command: 'place', args: { ...place.args, at: p.name }, asked: p.name });
  };
}

for (const query of [dark, narrow]) {
  query.addEventListener('change', () => {
    for (const img of document.querySelectorAll('figure img')) img.reload();
  });
}

/** Shows a picture in full size. */
function enlarge(m) {
  const img = make('img', { alt: m.alt, ...boundsOf(m).large, src: source(m, 'large') });
  $('full').lastElementChild.replaceChildren(img);
  $('full').showModal();
}

$('full-close').onclick = () => $('full').close();
// Whoever goes on typing types into the message box.
$('full').onkeydown = (event) => {
  if (event.key.length !== 1 || event.key === ' ' || event.ctrlKey || event.altKey || event.metaKey) return;
  $('full').close();
  $('message').focus();
};
$('full').onclick = (event) => { if (event.target === $('full')) $('full').close(); };
