// When a page rings.

/** Whether a game waits for its reader: to place a stone, or to accept. */
export const waits = (root) => !!root.querySelector("#play[data-stone], #play [data-command=accept]");

/**
 * Whether a page rings that showed before and shows now of a game: its newest event and
 * whether it waits for its reader, who does not see the page if it is hidden.
 */
export function rings(before, now, hidden) {
  return hidden && now.mine && before?.game === now.game && now.newest > before.newest;
}
