// Where others reach the room.

/** The address of the room, without a path. */
export let base = location.origin;

/** Learns the address that the room says. */
export function setBase(url) {
  base = url ?? location.origin;
}
