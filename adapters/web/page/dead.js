// Marks dead stones on the page of a record: a press on a stone names it in the field of dead
// stones once more, which marks its chain or takes the mark back, and asks for the page anew.

/**
 * @param {import("./view.js").GameView} view
 * @param {Element} root
 */
export function markDead(view, root) {
  const press = (point) => {
    const field = root.querySelector("#dead");
    if (!field) return;
    const url = new URL(field.form.action);
    const named = field.value.trim() === "none" ? "" : field.value;
    url.searchParams.set("dead", `${named} ${point.dataset.point}`.trim());
    const as = root.querySelector("#as").value;
    if (as) url.searchParams.set("as", as);
    view.show(url.href, "replace");
  };
  root.addEventListener("click", (e) => {
    const point = e.target.closest("[data-point]");
    if (point) press(point);
  });
  root.addEventListener("keydown", (e) => {
    const point = e.target.closest("[data-point]");
    if (point && (e.key === "Enter" || e.key === " ")) {
      e.preventDefault();
      press(point);
    }
  });
}
