// What was sent before, for the up key.

/** Lines in the order in which they were sent, and how far up in them the reader is. */
export class Past {
  #lines = [];
  #back = 0;

  /** Adds a line at the end, and goes there. */
  add(line) {
    if (line && this.#lines.at(-1) !== line) this.#lines.push(line);
    this.#back = 0;
  }

  /** The line so many steps further back, empty at the end; null: there is none. */
  step(by) {
    const to = this.#back + by;
    if (to < 0 || to > this.#lines.length) return null;
    this.#back = to;
    return to ? this.#lines.at(-to) : '';
  }
}
