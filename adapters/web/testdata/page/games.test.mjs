// Which games the room shows, and in which order.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Games } from '../../page/room/games.js';

const board = (n, players, due, more = {}) => ({ game: 'g' + n, kind: 'show', page: `/g/slug${n}/7`, next: 'x', players, due, controls: [{ command: 'place', args: { game: String(n) } }], ...more });
const over = { controls: [{ command: 'rematch', args: { game: '1' } }] };
const numbers = (games, who) => games.list(who).map((g) => g.number).join(' ');

function known() {
  const games = new Games();
  games.learn(board(1, ['ada', 'ben'], ['ada']));
  games.learn(board(2, ['ada', 'ben'], ['ben']));
  games.learn(board(3, ['eve', 'ben'], ['eve']));
  games.learn(board(4, ['ada', 'eve'], ['eve']));
  return games;
}

test('games that wait for somebody come first, then their newest', () => {
  const games = known();
  assert.equal(numbers(games, 'ada'), '1 4 2');
  assert.equal(numbers(games, 'ben'), '2 3 1');
  assert.equal(games.first('ada').page, '/g/slug1');
});

test('an onlooker has all games, the newest first', () => {
  const games = known();
  assert.equal(numbers(games, 'zoe'), '4 3 2 1');
  games.learn(board(2, ['ada', 'ben'], ['ada']));
  assert.equal(games.first('zoe').number, '2');
});

test('a game that is over leaves the list, and is shown where there is no other', () => {
  const games = new Games();
  assert.equal(games.first('ada'), undefined);
  games.learn(board(1, ['ada', 'ben'], ['ada']));
  games.learn(board(1, ['ada', 'ben'], [], over));
  assert.equal(numbers(games, 'ada'), '');
  assert.equal(games.first('ada').number, '1');
});

test('only the first board of a game is a new game, and only boards with a page count', () => {
  const games = new Games();
  assert.equal(games.learn(board(1, [], [])).page, '/g/slug1');
  assert.equal(games.learn(board(1, [], [])), null);
  assert.equal(games.learn(board(2, [], [], { page: undefined })), null);
  assert.equal(games.learn(board(3, [], [], { kind: 'notice' })), null);
  assert.equal(games.learn({ text: 'hello' }), null);
  assert.equal(numbers(games, ''), '1');
});

test('a board looks again when its game is spoken of, or the bot says something of none', () => {
  const games = known();
  const concerns = (m) => games.concerns(m, '/g/slug1');
  assert.deepEqual([{ game: 'g1' }, { game: 'g2' }, { game: 'g9' }, {}, { from: 'Ada' }].map(concerns), [true, false, false, true, false]);
});

test('the talk keeps the buttons that the live board has not, for those who may press them', () => {
  const games = known();
  const buttons = (game, who, ...all) => all.filter((command) => games.helps(game, command, all, who)).join(' ');
  assert.equal(buttons('g1', 'ada', 'place', 'pass', 'undo', 'score', 'more'), 'score more');
  assert.equal(buttons('g1', 'zoe', 'accept', 'decline'), '');
  assert.equal(buttons('g1', 'ada', 'delete', 'decline'), 'delete decline');
  assert.equal(buttons('g9', 'ada', 'place', 'pass'), 'place pass'); // a game without a page
  games.learn(board(1, ['ada', 'ben'], [], over));
  assert.equal(buttons('g1', 'ada', 'rematch', 'sgf'), 'rematch sgf');
  assert.equal(buttons('g1', 'zoe', 'rematch', 'sgf'), 'sgf');
  assert.equal(buttons('g1', 'ben', 'accept', 'decline'), 'accept decline'); // of a rematch
});
