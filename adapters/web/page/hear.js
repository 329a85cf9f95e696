// Says things to those who hear a page, in its one live region.

const region = document.createElement("p");
region.className = "heard";
region.setAttribute("role", "status");
document.body.append(region);

/** Says a text, unless it was the last that was said. */
export function hear(text) {
  if (region.textContent !== text) region.textContent = text;
}
