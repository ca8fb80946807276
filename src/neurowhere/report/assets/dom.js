// Elements without markup: every text becomes a text node, so that nothing in it is ever run.

export const $ = (id) => document.getElementById(id);

export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.entries(value).forEach(([key, to]) => element.style.setProperty(key, to));
    else if (name in element && typeof value !== "string") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function fill(element, ...children) {
  element.replaceChildren(...children);
}

export const chosen = (name) => document.querySelector(`input[name="${name}"]:checked`).value;

export function choose(name, value) {
  const input = document.querySelector(`input[name="${name}"][value="${CSS.escape(value)}"]`);
  if (input) input.checked = true;
}

// Call the last of many calls, after a pause.
export function settle(action, milliseconds) {
  let timer;
  const call = (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...values), milliseconds);
  };
  call.cancel = () => clearTimeout(timer);
  return call;
}

// Numbers as people write them.
export const percent = (share) => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;
export const times = (ratio) => (ratio === null ? "–" : `×${ratio.toFixed(ratio >= 9.95 ? 0 : ratio >= 0.5 ? 1 : 2)}`);
export const mm = (at) => at.map((value) => Math.round(value)).join(", ").replaceAll("-", "−");
export const capital = (words) => words.charAt(0).toUpperCase() + words.slice(1);
