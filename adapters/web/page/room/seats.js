// Who the reader is: the seat or name that they choose, and what the board awaits of them.

import { $, recall, remember, tell } from './dom.js';
import { t } from './words.js';
import { can, ofUse, table } from './table.js';

export const START = '/new two-button 9x9';
const seat = $('seat'), ownName = $('name'), follow = $('follow');
const colors = { black: 'Black', white: 'White' };

/** The seat as the room takes it. */
export const mySeat = () => (seat.value === 'name' ? 'name:' + ownName.value : seat.value);

/** The name by which messages know the reader. */
export const myName = () => (seat.value === 'name' ? ownName.value.trim().toLowerCase() : seat.value);

export const isMine = (due) => due.includes(myName());

/** Whether the reader has chosen to have a name, and not said which. */
export const nameless = () => seat.value === 'name' && !ownName.value.trim();

/** Shows the seat that the room gave instead of another, in which somebody else sits. */
export function seatGiven(value) {
  seat.value = value;
  showTurn();
}

/** Takes another seat. */
export function sit(value) {
  if (seat.value === value) return;
  seat.value = value;
  seatChanged();
}

/** Remembers the seat, and tells the document of it by the event "seated". */
function seatChanged() {
  ownName.hidden = seat.value !== 'name';
  remember('seat', seat.value);
  remember('name', ownName.value);
  showTurn();
  document.dispatchEvent(new Event('seated'));
}

/**
 * Says what the board awaits, and offers the seat of whoever is to move to the person in the
 * other.
 */
export function showTurn() {
  const { due, next, color } = table;
  const mine = isMine(due);
  const offer = seat.value in colors && !mine && due[0] in colors;
  $('turn').textContent = next;
  $('turn').className = color;
  $('move-over').hidden = !offer;
  if (offer) $('move-over').textContent = t('Sit as {0}', t(colors[due[0]]));
  $('message').placeholder = usual();
  showExamples();
  const waits = mine || isMine(table.newest.due) ? '● ' : '';
  document.title = waits + (next ? next + ' · ' : '') + 'Halfpoint';
}

/** What the reader may type. */
function usual() {
  const who = myName();
  if (can('place', who)) return t('{0}, /pass, or a message', table.latest.lines?.point ?? 'E5');
  if (can('accept', who)) return '/accept';
  return can('new', who) ? START : t('Write a message');
}

/** Leaves those examples of the guide pressable that are of use now. */
function showExamples() {
  const { point, dead } = table.latest?.lines ?? {};
  for (const e of document.querySelectorAll('[data-when]')) {
    const { when } = e.dataset;
    const use = ofUse(when, myName());
    if (e.matches('button')) e.disabled = !use; else e.hidden = !use;
    if (!use) continue;
    if (when === 'place') e.textContent = point ?? 'E5';
    if (when === 'dead') e.textContent = '/dead ' + point;
    if (when === 'alive') e.textContent = '/dead ' + dead[0] + ' as:alive';
  }
}

/** Moves over to the seat that is to move, if the reader plays both. */
export function followTurn() {
  const { due } = table;
  if (!follow.checked || !(seat.value in colors) || !(due[0] in colors) || due.includes(seat.value)) return;
  sit(due[0]);
  tell(t('You are {0} now.', t(colors[seat.value])));
}

/** Takes the seat that the reader had last. */
export function sitAgain() {
  ownName.value = recall('name') ?? '';
  follow.checked = recall('follow') === 'yes';
  if ([...seat.options].some((o) => o.value === recall('seat'))) seat.value = recall('seat');
  seatChanged();
}

seat.onchange = () => {
  seatChanged();
  if (seat.value === 'name') ownName.focus();
};
ownName.onchange = seatChanged;
follow.onchange = () => { remember('follow', follow.checked ? 'yes' : 'no'); followTurn(); };
document.addEventListener('spoken', showTurn);
