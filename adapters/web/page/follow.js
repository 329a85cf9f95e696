// Which games a tab follows: its own, and, while it is the leader, those of other tabs.

const MOST = 16; // in a stream, as the server has it

/**
 * What Shared follows for the game with a slug.
 * @param {string} slug
 * @param {(now: string) => void} changed takes the number of the newest event; "": the page is gone
 * @param {() => void} refused the server has no stream for it, and perhaps no page
 * @returns {import("./share.js").Following}
 */
export function following(slug, changed, refused) {
  const others = new Set();
  return {
    name: "halfpoint-games",
    kinds: ["message", "gone"],
    address: () => "/g/follow?" + new URLSearchParams([slug, ...others].map((game) => ["game", game])),
    take(kind, data) {
      const [game, now] = data.split(" ");
      if (kind !== "down") game === slug && changed(now);
      else if (data) refused();
    },
    place: () => [slug, ...others],
    behind: (place) => !place.includes(slug),
    wants: () => slug,
    add(game) {
      if (game === slug || others.has(game) || others.size + 1 === MOST) return false;
      others.add(game);
      return true;
    },
    drop: (game) => others.delete(game),
    instead: (place, name) => (place.includes(slug) || place.length < MOST ? "" : "halfpoint-games " + (Number(name.split(" ")[1] ?? 1) + 1)),
    retry: () => 10_000 + 10_000 * Math.random(), // not all pages at once
  };
}
