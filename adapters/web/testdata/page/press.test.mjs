// What a press on the board means.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSure, pressed } from '../../page/press.js';

const args = '{"game":"1","seq":"5"}', game = { game: '1', seq: '5' };
const placing = { stone: 'w', press: args };
const marking = { marks: '', dead: 'A1 B2', press: args, alive: '{"as":"alive"}' };

const cases = [
  ['one press places a stone', placing, 'C3', { sure: true }, { shape: 'O', command: 'place', args: { ...game, at: 'C3' } }],
  ['the first of two lays a ghost', placing, 'C3', { sure: false }, { shape: 'H' }],
  ['on another point, too', placing, 'C3', { sure: false, ghost: 'D4' }, { shape: 'H' }],
  ['the second places the stone', placing, 'C3', { sure: false, ghost: 'C3' }, { shape: 'O', command: 'place', args: { ...game, at: 'C3' } }],
  ['Black has black stones', { stone: 'b', press: args }, 'C3', { sure: false }, { shape: 'G' }],
  ['a stone is marked as dead', marking, 'C3', { sure: false }, { command: 'dead', args: { ...game, points: 'C3' } }],
  ['a dead one as alive', marking, 'B2', { sure: false }, { command: 'dead', args: { as: 'alive', points: 'B2' } }],
  ['what cannot be marked is not', { marks: '', dead: '', press: '', alive: '' }, 'C3', { sure: true }, null],
  ['who has no turn presses for nothing', { press: '' }, 'C3', { sure: true }, null],
  ['stones are named for a pass', placing, 'C3', { sure: true, naming: new Set() }, { names: 'C3' }],
];
for (const [what, play, at, state, want] of cases) test(what, () => assert.deepEqual(pressed(play, at, state), want));

test('how many presses are needed is chosen, or follows from what presses', () => {
  assert.deepEqual([['', 'mouse'], ['', 'touch'], ['1', 'touch'], ['2', 'mouse']].map(([n, pointer]) => isSure(n, pointer)), [true, false, true, false]);
});
