// Tables and lists of the page.

import { fill, make } from "./dom.js";

export function fillTable(table, names, rows) {
  fill(table.tHead, make("tr", {}, ...names.map((name) => make("th", { scope: "col" }, name))));
  const body = rows.map(([first, ...rest]) =>
    make("tr", {}, make("th", { scope: "row" }, first), ...rest.map((cell) => make("td", {}, cell))));
  fill(table.tBodies[0], ...body);
}

// A name that moves the crosshair.
export function placeButton(name, at, goTo, title) {
  return make("button", { type: "button", class: "place-link", title: title ?? null, onclick: () => goTo(at) }, name);
}

// A term over a bar of what it adds; warm if it speaks for, cold if against.
export function barRow(name, share, handlers, note) {
  const direction = share >= 0 ? "raises" : "lowers";
  const title = `${direction} it by ${Math.round(100 * Math.abs(share))} % of the strongest`;
  return make("li", {},
    make("button", { type: "button", class: `bar-row ${direction}`, style: { "--share": Math.abs(share) }, title, ...handlers },
      name, note ? make("small", { class: "note" }, note) : null));
}

// A study by its title, with the terms that it shares; `shared` are names to look for.
export function studyRow({ id, similarity, link, title }, shared = []) {
  const name = link ? make("a", { href: link, target: "_blank", rel: "noopener noreferrer" }, title ?? `PMID ${id}`) : title ?? id;
  const common = title ? inTitle(title, shared) : [];
  const details = [title && link ? `PMID ${id}` : null, common.length ? `shares ${common.join(", ")}` : null].filter(Boolean).join(" · ");
  return make("li", {},
    make("span", { class: "study" }, name, details ? make("small", { class: "soft" }, details) : null),
    make("span", { class: "meter", title: "similarity", style: { "--share": Math.max(similarity, 0) } }, similarity.toFixed(2)));
}

// Terms that a title has as words of its own, the longest of those within one another.
function inTitle(title, terms) {
  const words = ` ${title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ")} `;
  const found = terms.filter((term) => words.includes(` ${term} `) || words.includes(` ${term}s `));
  return found.filter((term) => !found.some((longer) => longer !== term && ` ${longer} `.includes(` ${term} `)));
}
