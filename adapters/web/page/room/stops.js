// Makes the links and buttons of the transcript one stop of the Tab key, however many there
// are: the arrow keys lead from one to the next.

const stops = 'a[href], button, summary';

/** Returns what can be pressed in an element, but for what is hidden, and forms, which have stops of their own. */
const all = (within) => [...within.querySelectorAll(stops)].filter((e) => !e.hidden && !e.closest('form'));

/** Leaves an element one stop: where its reader is, or else the first button below its newest message that has any. */
export function keepOneStop(log) {
  let current = null;
  const keep = () => {
    const found = all(log);
    if (!found.includes(current) || !log.contains(document.activeElement)) {
      const newest = all([...log.children].findLast((e) => all(e).length) ?? log);
      current = newest.find((e) => e.closest('.controls')) ?? newest[0];
    }
    for (const e of found) e.tabIndex = e === current ? 0 : -1;
  };
  new MutationObserver(keep).observe(log, { childList: true, subtree: true, attributeFilter: ['hidden'] });
  log.addEventListener('focusin', (event) => {
    const e = event.target.closest(stops);
    if (e && !e.closest('form')) {
      current = e;
      keep();
    }
  });
  log.addEventListener('keydown', (event) => {
    const step = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 }[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.target.closest('form')) return;
    const found = all(log).filter((e) => e.checkVisibility());
    const to = found[found.indexOf(event.target) + step];
    event.preventDefault();
    to?.focus();
  });
}
