// The games of the room that have a page, as their newest boards tell.

/** @typedef {{id: string, page: string, number: string, next: string, players: string[], due: string[], over: boolean, n: number}} Game */

// The commands for which the live board has buttons and points.
const turns = ['place', 'pass', 'button', 'delay', 'accept', 'decline', 'draw', 'undo', 'dispute', 'dead', 'resume'];

export class Games {
  #games = new Map(); // by id
  #n = 0;

  /** Forgets all games. */
  clear() {
    this.#games.clear();
  }

  /** Learns from a message; returns its game if that was not known before. */
  learn(m) {
    if (!m.game || m.kind !== 'show' || !m.page) return null;
    const known = this.#games.get(m.game);
    const controls = m.controls ?? [];
    const game = {
      id: m.game,
      page: m.page.replace(/\/\d+$/, ''), // of the game as it is now
      number: controls[0]?.args?.game ?? known?.number ?? '',
      next: m.next ?? '', players: m.players ?? [], due: m.due ?? [],
      over: controls.some((c) => c.command === 'rematch'),
      n: ++this.#n,
    };
    this.#games.set(m.game, game);
    return known ? null : game;
  }

  /** The game with a page, or undefined. */
  at(page) {
    return [...this.#games.values()].find((g) => g.page === page);
  }

  /**
   * Whether a button with a command helps somebody who reads a message about a game beside the
   * live board, which has all turns and answers for those who may make them.
   * @param {string[]} beside the commands of all buttons of the message
   */
  helps(id, command, beside, who) {
    const game = this.#games.get(id);
    if (!game) return true;
    if (command === 'rematch') return game.players.includes(who);
    if (command === 'decline' && !beside.includes('accept')) return true; // of a question that the board does not answer
    return game.over || !turns.includes(command);
  }

  /** Whether a message is about the game with a page, as far as can be told. */
  concerns(m, page) {
    return m.game ? this.#games.get(m.game)?.page === page : !m.from;
  }

  /**
   * The games that go on: those of a player, and first those that wait for them; all for
   * somebody who plays in none. The newest come first.
   */
  list(who) {
    const on = [...this.#games.values()].filter((g) => !g.over).sort((a, b) => b.n - a.n);
    const mine = on.filter((g) => g.players.includes(who));
    const waits = (g) => g.due.includes(who);
    return mine.length ? [...mine.filter(waits), ...mine.filter((g) => !waits(g))] : on;
  }

  /** The game to show first to somebody: one that goes on, or else the newest. */
  first(who) {
    return this.list(who)[0] ?? [...this.#games.values()].sort((a, b) => b.n - a.n)[0];
  }
}
