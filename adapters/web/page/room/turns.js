// Turns that somebody talks about by their numbers: "#57".

const named = /(?<![\p{L}\p{M}\p{N}_#&/])(#[1-9]\d{0,3})(?![\p{L}\p{M}\p{N}_])/u;

/**
 * Splits a text at the turns of a game that it names: every second part is one. A number that
 * the game has not come to stays text.
 */
export function splitTurns(text, turns) {
  const parts = [''];
  text.split(named).forEach((s, i) => {
    if (i % 2 && s.slice(1) <= turns) parts.push(s, ''); else parts[parts.length - 1] += s;
  });
  return parts;
}
