// Tables and lists of the page.

import { fill, make } from "./dom.js";
import { endOutline, outline } from "./stage.js";

// Fill a table. A name of a column may be a button that sorts by it; a row may be the title of a group.
export function fillTable(table, names, rows) {
  fill(table.tHead, make("tr", {}, ...names.map(head)));
  const body = rows.map((row) => (typeof row === "string"
    ? make("tr", { class: "group" }, make("th", { scope: "rowgroup", colspan: String(names.length) }, row))
    : make("tr", {}, make("th", { scope: "row" }, row[0]), ...row.slice(1).map((cell) => make("td", {}, cell)))));
  fill(table.tBodies[0], ...body);
}

function head(name) {
  if (typeof name === "string") return make("th", { scope: "col" }, name);
  const { words, title, sorted, onclick } = name;
  return make("th", { scope: "col", "aria-sort": sorted ? "descending" : null }, make("button", { type: "button", class: "sorts", title, onclick }, words));
}

// Rows under the titles of their groups; a single group needs none.
export function grouped(groups) {
  const filled = groups.filter(([, rows]) => rows.length);
  return filled.flatMap(([title, rows]) => (filled.length > 1 ? [title, ...rows] : rows));
}

// A name that moves the crosshair; pointing at one of a region outlines it.
export function placeButton(name, at, goTo, row) {
  const outlining = row?.region ? { onmouseenter: () => outline(row), onfocus: () => outline(row), onmouseleave: endOutline, onblur: endOutline } : {};
  return make("button", { type: "button", class: "place-link", title: row?.region ?? null, onclick: () => goTo(at), ...outlining }, name);
}

// A term over a bar of what it adds; warm if it speaks for, cold if against.
export function barRow(name, share, handlers, note, meaning) {
  const direction = share >= 0 ? "raises" : "lowers";
  const much = `${Math.round(100 * Math.abs(share))} % of the strongest`;
  const title = meaning ? `${meaning}: ${much}` : `${direction} the map, ${much}`;
  return make("li", {},
    make("button", { type: "button", class: `bar-row ${direction}`, style: { "--share": Math.abs(share) }, title, "aria-label": `${name}: ${title}`, ...handlers },
      name, note ? make("small", { class: "note" }, note) : null));
}

// A study by its title, with the terms that it shares; `shared` are names to look for.
export function studyRow({ id, similarity, link, title }, shared = []) {
  const name = link ? make("a", { href: link, target: "_blank", rel: "noopener noreferrer" }, title ?? `PMID ${id}`) : title ?? id;
  const common = title ? inTitle(title, shared) : [];
  const details = [title && link ? `PMID ${id}` : null, common.length ? `shares ${common.join(", ")}` : null].filter(Boolean).join(" · ");
  return make("li", {},
    make("span", { class: "study" }, name, details ? make("small", { class: "soft" }, details) : null),
    make("span", { class: "meter", title: "similarity of the texts (cosine)", style: { "--share": Math.max(similarity, 0) } }, similarity.toFixed(2)));
}

// Terms that a title has as words of its own, the longest of those within one another.
function inTitle(title, terms) {
  const words = ` ${title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ")} `;
  const found = terms.filter((term) => words.includes(` ${term} `) || words.includes(` ${term}s `));
  return found.filter((term) => !found.some((longer) => longer !== term && ` ${longer} `.includes(` ${term} `)));
}
