// Where the points of a drawn board lie.

const columns = 'ABCDEFGHJKLMNOPQRSTUVWXYZ';

/**
 * The point nearest to a place in a picture, or null if that lies beside the board.
 * @param lines how many columns and rows there are, and where the lines run in each layout:
 *   the left line, the bottom line and their distance, in pixels of the medium picture
 * @param layout "landscape" or "portrait"
 * @returns its name, and its middle in pixels of the medium picture
 */
export function nearest(lines, layout, x, y) {
  const [left, bottom, cell] = lines[layout];
  const column = Math.round((x - left) / cell), row = Math.round((bottom - y) / cell);
  if (column < 0 || row < 0 || column >= lines.columns || row >= lines.rows) return null;
  return { name: columns[column] + (row + 1), x: left + column * cell, y: bottom - row * cell, cell };
}
