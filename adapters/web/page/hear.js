// Says things to those who hear a page, in its one live region.

const region = document.createElement("div");
region.className = "heard";
region.setAttribute("role", "status");
region.ariaAtomic = "false"; // only what is new is said
document.body.append(region);

/** Says a text, unless it was the last that was said. */
export function hear(text) {
  if (region.lastChild?.textContent === text) return;
  const p = document.createElement("p");
  p.textContent = text;
  region.append(p);
  while (region.childElementCount > 5) region.firstChild.remove();
}
