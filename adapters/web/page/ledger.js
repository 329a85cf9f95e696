// Tells below a row of the ledger from which entries one of its numbers comes, when it is
// pressed, and takes that away at the next press. Without it the number leads to a page that
// tells the same.

/** The row that tells the entries of a number; null: there is none. */
const told = (link) => (link.getAttribute("aria-expanded") === "true" ? link.closest("tr").nextElementSibling : null);

async function tell(link) {
  let list = null;
  try {
    const answer = await fetch(link.href);
    if (answer.ok) list = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector(".entries");
  } catch {
    // the network is away
  }
  if (!link.isConnected || told(link)) return;
  if (!list) {
    location.href = link.href;
    return;
  }
  const row = link.closest("tr");
  for (const other of row.querySelectorAll("[aria-expanded=true]")) shut(other);
  const cell = document.createElement("td");
  cell.colSpan = row.cells.length;
  cell.append(document.adoptNode(list));
  const below = document.createElement("tr");
  below.append(cell);
  row.after(below);
  link.setAttribute("aria-expanded", "true");
}

function shut(link) {
  told(link)?.remove();
  link.setAttribute("aria-expanded", "false");
}

document.addEventListener("click", (e) => {
  const link = e.target.closest(".count td > a");
  if (!link || e.button || e.altKey || e.ctrlKey || e.metaKey || e.shiftKey) return;
  e.preventDefault();
  if (told(link)) shut(link);
  else tell(link);
});
