// Lets readers move about on the boards of a page with keys: each board is a grid with one
// tab stop, in which the arrow keys lead from point to point. Without this script a board
// has its names and no tab stop.

/** The boards in an element. */
export const boards = (within = document) => [...within.querySelectorAll(".board[role=grid]")];

/** The points of a board, the top row first. */
const rowsOf = (board) => [...board.querySelectorAll("[role=row]")].map((row) => [...row.querySelectorAll("[role=gridcell]")]);

/** The point of each board where its reader has been, in the game that they were in last. */
let visited = [], visitedIn = "";

/** Forgets where the reader has been in another game. */
function enterGame(element) {
  const { game } = element.closest("[data-game]")?.dataset ?? {};
  if (game !== visitedIn) visited = [];
  visitedIn = game;
}

/** Tells those who hear the boards whether a press on a point does something now. */
export function offer(within = document) {
  const playable = within.querySelector("#play[data-stone], #play[data-marks]") && !("sending" in document.body.dataset);
  for (const board of boards(within)) board.setAttribute("aria-readonly", String(!playable));
}

/** Gives each board of a new page its points and its tab stop: where the reader was, or the last stone. */
export function equip(main) {
  offer(main);
  enterGame(main);
  boards(main).forEach((board, i) => {
    const rows = rowsOf(board);
    rows.forEach((row, y) => row.forEach((cell, x) => (cell.dataset.point = "ABCDEFGHJKLMNOPQRSTUVWXYZ"[x] + (rows.length - y))));
    const point = visited[i] ?? board.closest("figure").dataset.last;
    const middle = rows[rows.length >> 1];
    enter(rows.flat().find((cell) => cell.dataset.point === point) ?? middle[middle.length >> 1]);
  });
}

/** Makes a point the tab stop of its board, with the ring that shows the focus around it. */
function enter(cell) {
  const row = cell.parentElement;
  const board = cell.closest(".board");
  board.querySelector("[tabindex]")?.removeAttribute("tabindex");
  cell.setAttribute("tabindex", "0");
  let ring = board.querySelector(".ring");
  if (!ring) {
    row.insertAdjacentHTML("afterend", `<g class="ring" aria-hidden="true">${'<rect x="-.5" y="-.5" width="1" height="1"/>'.repeat(2)}</g>`);
    ring = row.nextElementSibling;
    row.parentElement.append(ring); // above all points
  }
  ring.setAttribute("transform", `${row.getAttribute("transform")} translate(${cell.getAttribute("x")} 0)`);
}

/** Where keys lead from column x and row y, which may lie outside; far: with Ctrl. */
const ways = {
  ArrowLeft: (x, y) => [x - 1, y],
  ArrowRight: (x, y) => [x + 1, y],
  ArrowUp: (x, y) => [x, y - 1],
  ArrowDown: (x, y) => [x, y + 1],
  Home: (x, y, far) => [0, far ? 0 : y],
  End: (x, y, far) => [Infinity, far ? Infinity : y],
};

const within = (n, all) => all[Math.max(0, Math.min(n, all.length - 1))];

document.addEventListener("keydown", (e) => {
  const cell = e.target.closest("[role=gridcell]");
  const far = e.ctrlKey && (e.key === "Home" || e.key === "End");
  if (!cell || !ways[e.key] || e.altKey || e.metaKey || e.shiftKey || e.ctrlKey !== far) return;
  e.preventDefault();
  const rows = rowsOf(cell.closest(".board"));
  const y = rows.findIndex((row) => row.includes(cell));
  const [column, row] = ways[e.key](rows[y].indexOf(cell), y, far);
  const to = within(column, within(row, rows));
  enter(to);
  to.focus();
});

document.addEventListener("focusin", (e) => {
  const cell = e.target.closest("[role=gridcell]");
  if (!cell) return;
  enterGame(cell);
  visited[boards().indexOf(cell.closest(".board"))] = cell.dataset.point;
});
