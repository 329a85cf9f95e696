// What the talk has told of the games so far, and what a person may do in the one before them. People
// are known by the names of their seats, in lower case: "black", "ada".

/** Names of seats as the bot calls whoever sits there. */
export const seats = ['Black', 'White', 'Onlooker'];

const none = { due: [], next: '', color: '', latest: null };
const games = new Map(); // what the last board of each game awaits, by the game's id; the newest at the end
let shown = ''; // the game whose board the reader has before them; empty: that of the newest

/** What the board that is shown awaits, and the newest of any game. */
export const table = {
  due: [],      // seats of which it awaits something,
  next: '',     // that in words,
  color: '',    // the stones of the only one,
  latest: null, // and the message with it
  newest: none, // the same of the newest board
  about: null,  // the newest board of a game, which people talk about
};

/** Forgets all games. */
export function clear() {
  games.clear();
  Object.assign(table, none, { newest: none, about: null });
}

/** Learns from a message; reports whether something else is awaited now. */
export function learn(m) {
  if (!m.game || m.kind === 'sheet' || !m.picture && !m.due) return false;
  const { latest } = games.get(m.game) ?? none;
  games.delete(m.game);
  games.set(m.game, {
    due: m.due ?? [],
    next: (m.next ?? '').replace(/^./u, (c) => c.toUpperCase()),
    color: m.color ?? '',
    latest: m.picture ? m : latest,
  });
  if (m.picture && m.kind === 'show') table.about = m;
  lay();
  return true;
}

/** Lays the board of a game before the reader, as far as messages have told of it. */
export function lookAt(game) {
  shown = game;
  lay();
}

/** What the last board of a game awaits, in words. */
export const nextIn = (game) => games.get(game)?.next ?? '';

function lay() {
  table.newest = [...games.values()].at(-1) ?? none;
  Object.assign(table, games.get(shown) ?? table.newest);
}

/** Whether somebody plays in the game of a message. */
export const plays = (m, who) => !!m?.players?.includes(who);

/** Whether somebody can use a command now, for the game of the last board. */
export function can(command, who) {
  const control = table.latest?.controls?.find((c) => c.command === command);
  switch (command) {
    case 'new': return who !== 'onlooker' && !table.due.length;
    case 'undo': return !!control && plays(table.latest, who) && !table.due.includes(who);
    default: return !!control && table.due.includes(who);
  }
}

/** Whether an example of the guide is of use to somebody now: one of a command, or for a game. */
export function ofUse(when, who) {
  const { point, dead } = table.latest?.lines ?? {};
  switch (when) {
    case 'game': return !!table.latest;
    case 'alive': return can('dead', who) && dead?.length > 0;
    case 'dead': return can('dead', who) && !!point;
    default: return can(when, who);
  }
}
