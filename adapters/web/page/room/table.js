// What the talk has told of the games so far, and what a person may do in the newest. People
// are known by the names of their seats, in lower case: "black", "ada".

/** Names of seats as the bot calls whoever sits there. */
export const seats = ['Black', 'White', 'Onlooker'];

/** What the last board awaits. */
export const table = {
  due: [],      // seats of which it awaits something,
  next: '',     // that in words,
  color: '',    // the stones of the only one,
  latest: null, // and the message with it
  about: null,  // the newest board of a game, which people talk about
};

/** Forgets all games. */
export function clear() {
  Object.assign(table, { due: [], next: '', color: '', latest: null, about: null });
}

/** Learns from a message; reports whether something else is awaited now. */
export function learn(m) {
  if (!m.game || !m.picture && !m.due) return false;
  table.due = m.due ?? [];
  table.next = (m.next ?? '').replace(/^./u, (c) => c.toUpperCase());
  table.color = m.color ?? '';
  if (m.picture) table.latest = m;
  if (m.picture && m.kind === 'show') table.about = m;
  return true;
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
