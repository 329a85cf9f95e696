// What the page of the room decides without a browser.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { uuid } from '../../page/ask.js';
import { rings } from '../../page/rings.js';
import { looksDrawn } from '../../page/room/drawing.js';
import { heard } from '../../page/room/heard.js';
import { Past } from '../../page/room/past.js';
import { nearest } from '../../page/room/points.js';
import { can, clear, learn, lookAt, nextIn, ofUse, plays, table } from '../../page/room/table.js';
import { splitTurns } from '../../page/room/turns.js';

test('an id is a random UUID', () => {
  assert.match(uuid(), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.notEqual(uuid(), uuid());
});

const drawn = [
  ['(;GM[1]SZ[9])', true],
  ['  (;GM[1]', true],
  ['$$ . X O', true],
  ['. . X O .', true],
  ['here:\n|.X.O.|\nand so on', true],
  ['.....', true],
  ['no...', false],
  ['XO', false],
  ['a sentence (in brackets)', false],
];
for (const [text, want] of drawn) test(`${JSON.stringify(text)} ${want ? 'is' : 'is not'} a drawing`, () => assert.equal(looksDrawn(text), want));

test('the up key goes back through what was sent, and down to an empty line', () => {
  const past = new Past();
  assert.equal(past.step(1), null);
  for (const line of ['a', 'b', 'b', '']) past.add(line);
  assert.deepEqual([past.step(1), past.step(1), past.step(1), past.step(-1), past.step(-1), past.step(-1)], ['b', 'a', null, 'b', '', null]);
  past.step(1);
  past.add('c');
  assert.equal(past.step(1), 'c');
});

const lines = { columns: 9, rows: 5, landscape: [30, 90, 10], portrait: [3, 9, 1] };
const places = [
  ['landscape', 30, 90, 'A1'],
  ['landscape', 34, 86, 'A1'],
  ['landscape', 36, 84, 'B2'],
  ['landscape', 110, 50, 'J5'], // there is no column I
  ['portrait', 5, 7, 'C3'],
  ['landscape', 24, 90, undefined],
  ['landscape', 116, 90, undefined],
  ['landscape', 30, 44, undefined],
  ['landscape', 30, 96, undefined],
];
for (const [layout, x, y, want] of places) test(`at ${x}, ${y} in ${layout} lies ${want ?? 'no point'}`, () => assert.equal(nearest(lines, layout, x, y)?.name, want));

const named = [
  ['see #57 and #99', 60, ['see ', '#57', ' and #99']],
  ['a#3 &#4 /#5 #6x #07 ##8', 60, ['a#3 &#4 /#5 #6x #07 ##8']],
  ['(#12)', 12, ['(', '#12', ')']],
  ['#12', 0, ['#12']],
];
for (const [text, turns, want] of named) test(`${text} of ${turns} turns`, () => assert.deepEqual(splitTurns(text, turns), want));

test('who may do what follows from the last board', () => {
  clear();
  assert.equal(can('new', 'black'), true);
  assert.equal(can('new', 'onlooker'), false);
  const controls = [{ command: 'place' }, { command: 'pass' }, { command: 'undo' }];
  const m = { game: 'g', kind: 'show', picture: '/p', due: ['white'], players: ['black', 'white'], next: 'white to play', color: 'white', controls };
  assert.equal(learn({ text: 'hello' }), false);
  assert.equal(learn(m), true);
  assert.equal(table.next, 'White to play');
  const may = (who) => ['new', 'place', 'pass', 'undo', 'accept'].filter((command) => can(command, who));
  assert.deepEqual(may('white'), ['place', 'pass']);
  assert.deepEqual(may('black'), ['undo']);
  assert.deepEqual(may('ada'), []);
  assert.equal(plays(m, 'ada'), false);
  learn({ game: 'g', kind: 'notice', due: [], next: '' }); // the end, without a board
  assert.deepEqual(may('ada'), ['new']);
  assert.equal(table.latest, m);
});

test('the reader is told what the board before them awaits, and else the newest', () => {
  clear();
  const board = (game, color) => ({ game, kind: 'show', picture: '/p', due: [color], players: ['black', 'white'], next: `${color} to play`, color, controls: [{ command: 'place' }] });
  learn(board('g', 'white'));
  learn(board('h', 'black'));
  const told = () => [table.next, can('place', 'white'), can('place', 'black'), table.newest.next, table.about.game];
  assert.deepEqual(told(), ['Black to play', false, true, 'Black to play', 'h']);
  lookAt('g');
  assert.deepEqual(told(), ['White to play', true, false, 'Black to play', 'h']);
  learn(board('h', 'white'));
  assert.deepEqual(told(), ['White to play', true, false, 'White to play', 'h']);
  learn(board('g', 'black'));
  assert.deepEqual(told(), ['Black to play', false, true, 'Black to play', 'g']);
  assert.equal(nextIn('h'), 'White to play');
  lookAt('a game that is not in the talk');
  learn(board('h', 'black'));
  assert.equal(table.next, 'Black to play');
  clear();
  assert.deepEqual([table.next, table.due, table.latest, nextIn('g')], ['', [], null, '']);
  lookAt('');
});

test('examples of the guide are of use when their commands are', () => {
  clear();
  assert.equal(ofUse('game', 'black'), false);
  learn({ game: 'g', kind: 'show', picture: '/p', due: ['black', 'white'], players: ['black', 'white'], controls: [{ command: 'dead' }], lines: { point: 'C3', dead: [] } });
  assert.deepEqual(['game', 'dead', 'alive', 'accept'].map((when) => ofUse(when, 'white')), [true, true, false, false]);
  learn({ game: 'g', kind: 'show', picture: '/p', due: ['black'], players: ['black', 'white'], controls: [{ command: 'dead' }], lines: { dead: ['C3'] } });
  assert.deepEqual(['dead', 'alive'].map((when) => ofUse(when, 'black')), [false, true]);
});

test('talk and answers are heard, and what the live board tells is not', () => {
  const called = (name) => name.toUpperCase();
  for (const [m, want] of [
    [{ from: 'Ada', text: 'hello' }, 'ADA: hello'],
    [{ from: 'Ada', text: '/pass' }, ''],
    [{ from: 'Ada', text: 'e 5' }, ''],
    [{ from: 'Ada', text: 'E5 is big' }, 'ADA: E5 is big'],
    [{ text: 'Only you hear this.', private: true }, 'Only you hear this.'],
    [{ text: 'Play has stopped.', kind: 'notice', page: '/g/abc/7' }, 'Play has stopped.'],
    [{ text: '1. Black C3', kind: 'show', page: '/g/abc/7' }, ''],
    [{ text: '1. Black C3', kind: 'show', page: '/g/abcd/7' }, '1. Black C3'],
    [{ text: '1. Black C3', kind: 'show' }, '1. Black C3'],
    [{ kind: 'show', picture: '/x' }, ''],
  ]) assert.equal(heard(m, '/g/abc', called), want);
});

test('a page rings for a new event of a game that waits for somebody who does not see it', () => {
  const at = (newest, mine = true, game = '/g/a') => ({ game, newest, mine });
  for (const [before, now, hidden, want] of [
    [at(3, false), at(4), true, true],
    [at(3), at(4), true, true],
    [at(3, false), at(4), false, false],
    [at(3), at(3), true, false],
    [at(3), at(4, false), true, false],
    [at(3, true, '/g/b'), at(4), true, false],
    [null, at(4), true, false],
  ]) assert.equal(!!rings(before, now, hidden), want);
});
