// What of a message is said to those who hear the room.

/**
 * Returns the words of a message; none of a command, a turn, or a board of the game at the path
 * open, all of which the live board tells. called returns what somebody is called.
 */
export function heard(m, open, called) {
  const told = m.kind === 'show' && m.page?.startsWith(open + '/');
  if (told || !m.text || m.from && /^(?:[/!]|[a-z]\s?\d{1,2}$|pass$)/i.test(m.text)) return '';
  return m.from ? called(m.from) + ': ' + m.text : m.text;
}
