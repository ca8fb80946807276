// Contrasted: the answer to a contrast in words and tables.

import { pointing, ratioCell, tellAnswer } from "./answers.js";
import { $, capital, fill, make, percent, times } from "./dom.js";
import { roving } from "./roving.js";
import { showRegion } from "./stage.js";
import { fillTable, placeButton } from "./tables.js";

const [N_REGIONS, N_TERMS, N_DOCUMENTS] = [24, 24, 200]; // that are listed

const number = (n) => n.toLocaleString("en");

function sizes({ documents_in_group: group, documents_in_second_group: second, documents_with_known_terms: all, unadjusted }) {
  const every = unadjusted ? `all ${number(all)}` : `what is expected from ${number(all)}`;
  return { group: number(group), reference: second === null ? every : number(second) };
}

// What an image of a contrast shows.
export function captionOf({ about, group: what }, image) {
  const { group, reference } = sizes(about);
  const words = `${group} documents that ${what}`;
  if (image === "density") return `${words}: mean density`;
  return `${image === "significant" ? "Significant (FDR < 5 %): " : ""}${words}, against ${reference}`;
}

function noteOf({ about, outcome }) {
  const words = [`${number(about.documents)} documents were read, ${number(about.documents_in_group)} of them selected.`];
  if (about.documents_in_passing) words.push(`${number(about.documents_in_passing)} more mention it in passing.`);
  words.push(`${capital(outcome)}.`);
  if (about.chance_regions !== null) words.push(`Of words that name no place, ${percent(about.chance_regions)} have any discovery.`);
  words.push(...about.problems.map((problem) => `${capital(problem)}.`));
  if (about.documents_without_a_control) words.push(`${number(about.documents_without_a_control)} documents have no control and were left out.`);
  if (about.terms_left_out.length) words.push(`Left out of the encoding: ${about.terms_left_out.join(", ")}.`);
  return words.join(" ");
}

const interval = ({ low, high }) => make("span", { class: "soft" }, `${times(low)} – ${times(high)}`);

function tellRegions({ about, regions }) {
  const { group, reference } = sizes(about);
  $("regions-note").textContent = `share in ${group} documents against ${reference}`;
  fillTable($("regions"), ["Region", "Ratio", "95 % interval", "q"], regions.slice(0, N_REGIONS).map((row) => [
    placeButton(capital(row.name), row.at, (at) => showRegion(row, at), row), ratioCell(row.ratio), interval(row), row.q === null ? "–" : row.q.toPrecision(2),
  ]));
}

function tellTerms(terms) {
  $("peaks-note").textContent = "terms that carry the contrast: share of the documents that have them";
  fillTable($("peaks"), ["Term", "Selected", "Reference"], terms.slice(0, N_TERMS).map(({ term, share, share_reference: usual }) => [
    make("button", { type: "button", class: "place-link wraps", ...pointing(term) }, term), percent(share), percent(usual),
  ]));
  roving($("peaks"), ".place-link");
}

function documentRow({ id, title, mentions, group }) {
  const details = [title ? id : null, group > 1 ? "second group" : null].filter(Boolean).join(" · ");
  return make("li", {},
    make("span", { class: "study" }, title || id, make("small", { class: "soft" }, details)), make("span", { class: "count" }, `${number(mentions)} ×`));
}

function tellDocuments(documents) {
  const more = documents.length - N_DOCUMENTS;
  $("similar-note").textContent = "documents that were selected, with their mentions of the term";
  fill($("similar"), ...documents.slice(0, N_DOCUMENTS).map(documentRow), ...(more > 0 ? [make("li", { class: "soft" }, `and ${number(more)} more`)] : []));
}

export function tellContrast(answer) {
  tellAnswer(make("strong", {}, answer.most_raised.length ? `Most raised: ${answer.most_raised.join(", ")}` : answer.outcome));
  $("contrast-note").textContent = noteOf(answer);
  $("contrast-note").hidden = false;
  tellRegions(answer);
  tellTerms(answer.terms);
  tellDocuments(answer.documents);
}
