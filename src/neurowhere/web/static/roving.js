// Roving: many buttons that are one stop of the Tab key; arrow keys go from one to the next.

export function roving(container, selector) {
  const items = () => [...container.querySelectorAll(selector)];
  items().forEach((item, i) => { item.tabIndex = i ? -1 : 0; });
  if (container.dataset.roving) return;
  container.dataset.roving = "yes";
  container.addEventListener("focusin", ({ target }) => {
    const all = items();
    if (all.includes(target)) all.forEach((item) => { item.tabIndex = item === target ? 0 : -1; });
  });
  container.addEventListener("keydown", (event) => {
    const all = items();
    const here = all.indexOf(document.activeElement);
    const next = { ArrowRight: here + 1, ArrowDown: here + 1, ArrowLeft: here - 1, ArrowUp: here - 1, Home: 0, End: all.length - 1 }[event.key];
    if (here < 0 || next === undefined) return;
    event.preventDefault();
    all[Math.min(Math.max(next, 0), all.length - 1)].focus();
  });
}
