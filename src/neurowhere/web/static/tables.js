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

export function studyRow({ id, similarity, link }) {
  const name = link ? make("a", { href: link, target: "_blank", rel: "noopener noreferrer" }, `PMID ${id}`) : id;
  return make("li", {}, name, make("span", { class: "meter", style: { "--share": Math.max(similarity, 0) } }, similarity.toFixed(2)));
}
