// Puts fresh contents into an element that somebody is using.

/** Finds what stands in an element for another of before, or is like it. */
export function twin(root, element) {
  const name = ["id", "rel", "data-step", "href"].find((name) => element.getAttribute(name));
  const all = [...root.querySelectorAll(element.localName)];
  return all.find((e) => (name ? e.getAttribute(name) === element.getAttribute(name) : e.textContent === element.textContent)) ?? all[0];
}

/**
 * Puts the children of a fresh element in the place of those of an old one. One that a
 * selector finds in both stays itself, with new attributes and value: somebody may be dragging
 * it.
 */
export function exchange(old, fresh, selector) {
  const stays = old.querySelector(selector), instead = fresh.querySelector(selector);
  if (!stays || !instead) {
    old.replaceChildren(...fresh.childNodes);
    return;
  }
  for (const { name, value } of instead.attributes) stays.setAttribute(name, value);
  stays.value = instead.value;
  refill(stays.parentElement, stays, instead);
  refill(old, stays.parentElement, instead.parentElement);
}

/** Replaces all children of an element but one, by the siblings of its twin. */
function refill(element, kept, instead) {
  for (const child of [...element.childNodes]) if (child !== kept) child.remove();
  const fresh = [...instead.parentElement.childNodes], at = fresh.indexOf(instead);
  kept.before(...fresh.slice(0, at));
  kept.after(...fresh.slice(at + 1));
}
