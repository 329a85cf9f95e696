// What a press on the board of a game means.

/**
 * Decides what a press on a point does.
 * @param play what the server says may be done: stone "b" or "w" that can be placed, marks if
 *   stones can be marked, dead the points that are, press and alive the arguments of commands
 *   as JSON
 * @param {string} at the point
 * @param {{sure: boolean, ghost?: string, naming?: Set<string>}} state sure: one press is
 *   enough; ghost: the point of a stone that another press places; naming: the points that
 *   somebody names as dead with their pass
 * @returns what to lay on the point: shape, a letter of the shapes of a board; and the command
 *   to send, with its arguments; or that a point is named, or no longer; null: nothing
 */
export function pressed(play, at, { sure, ghost, naming }) {
  if (naming) return { names: at };
  if ("marks" in play) {
    const dead = play.dead.split(" ").includes(at);
    const args = (dead && play.alive) || play.press;
    return args ? { command: "dead", args: { ...JSON.parse(args), points: at } } : null;
  }
  if (!play.stone) return null;
  const black = play.stone === "b";
  if (!sure && ghost !== at) return { shape: black ? "G" : "H" };
  return { shape: black ? "X" : "O", command: "place", args: { ...JSON.parse(play.press), at } };
}

/**
 * Whether one press places a stone.
 * @param {string} chosen "1" or "2" presses, or empty: one with a mouse, two by touch
 * @param {string} pointer what presses, as events name it
 */
export const isSure = (chosen, pointer) => (chosen ? chosen === "1" : pointer === "mouse");
