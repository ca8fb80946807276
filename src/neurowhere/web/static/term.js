// Term: a page for each term, found by its first letters; and the terms that are related to a text.

import { ask, get } from "./api.js";
import { $, fill, make } from "./dom.js";
import { reading } from "./form.js";
import { textMode } from "./onetext.js";
import { roving } from "./roving.js";

const N_OFFERED = 12;
const SHORTEST = 2; // letters

const term = () => $("term").value;

export const oneTerm = { ...textMode(term, () => `The term “${term().trim()}”`), empty: "No map yet: choose a term" };

// ---- names that begin like what is typed

let names = null;

const load = async () => { names ??= (await get("terms")).terms; };

// Terms that begin with the letters, then those with a word that does, then those that hold them.
export function offered(all, typed) {
  const letters = typed.trim().toLowerCase();
  if (letters.length < SHORTEST) return [];
  const rank = (name) => (name === letters ? 0 : name.startsWith(letters) ? 1 : name.includes(` ${letters}`) ? 2 : name.includes(letters) ? 3 : 4);
  return all.map((name) => [rank(name), name]).filter(([place]) => place < 4)
    .sort(([a, first], [b, second]) => a - b || first.length - second.length || (first < second ? -1 : 1))
    .slice(0, N_OFFERED).map(([, name]) => name);
}

let active = -1;
const options = () => [...$("term-list").children];

function draw(list) {
  active = -1;
  fill($("term-list"), ...list.map((name, i) => make("li", { role: "option", id: `option-${i}`, "aria-selected": "false" }, name)));
  $("term-list").hidden = !list.length;
  $("term").setAttribute("aria-expanded", String(Boolean(list.length)));
  $("term").removeAttribute("aria-activedescendant");
}

function move(step) {
  const all = options();
  if (!all.length) return;
  active = (active + step + all.length) % all.length;
  all.forEach((option, i) => option.setAttribute("aria-selected", String(i === active)));
  all[active].scrollIntoView({ block: "nearest" });
  $("term").setAttribute("aria-activedescendant", all[active].id);
}

export function wireTerm(open) {
  const choose = (name) => { draw([]); open(name); };
  const offer = async () => {
    await load().catch(() => {});
    if (document.activeElement === $("term")) draw(offered(names ?? [], term()));
  };
  $("term").addEventListener("input", offer);
  $("term").addEventListener("blur", () => setTimeout(() => draw([]), 150));
  $("term").addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") { event.preventDefault(); move(1); }
    if (event.key === "ArrowUp") { event.preventDefault(); move(-1); }
    if (event.key === "Escape") draw([]);
    if (event.key === "Enter") { event.preventDefault(); choose(active >= 0 ? options()[active].textContent : term()); }
  });
  $("related").addEventListener("toggle", () => $("related").open && relate?.());
  $("term-list").addEventListener("mousedown", (event) => event.preventDefault()); // the field keeps the focus
  $("term-list").addEventListener("click", ({ target }) => target.role === "option" && choose(target.textContent));
}

// ---- related terms

let latest = 0;
let relate = null; // what is asked when the list is opened

export async function tellRelated(text, open) {
  latest += 1;
  const ticket = latest;
  $("related").hidden = !text;
  fill($("related-terms"));
  relate = null;
  if (!$("related").open) { // a list that nobody sees is not asked for
    relate = () => tellRelated(text, open);
    return;
  }
  const { terms } = text ? await ask("related", { text, ...reading() }).catch(() => ({ terms: [] })) : { terms: [] };
  if (ticket !== latest) return;
  $("related").hidden = !terms.length;
  fill($("related-terms"), ...terms.map(({ term: name }) => make("button", { type: "button", class: "chip", onclick: () => open(name) }, name)));
  roving($("related-terms"), ".chip");
}
