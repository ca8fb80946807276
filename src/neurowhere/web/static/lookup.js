// Lookup: a PubMed id or a DOI in the text box, where the server has a collection that may hold it.

import { ask } from "./api.js";
import { make } from "./dom.js";
import { notice } from "./status.js";

const PUBMED = /^(?:pmid\s*:?\s*|(?:https?:\/\/)?pubmed\.ncbi\.nlm\.nih\.gov\/)?(\d{4,9})\/?$/i;
const DOI = /^(?:doi\s*:?\s*|(?:https?:\/\/)?(?:dx\.)?doi\.org\/)?(10\.\d{4,9}\/\S+)$/i;

let collections = [];
let latest = 0;

export const offerFrom = (names) => { collections = names; };

// The identifier that a text consists of, or null.
export const identifierIn = (text) => (text.trim().match(PUBMED) ?? text.trim().match(DOI))?.[1] ?? null;

// Offer to read the document that a text names; `read` is called with it. What comes late is dropped.
export async function offerDocument(text, read) {
  latest += 1;
  const ticket = latest;
  const id = collections.length ? identifierIn(text) : null;
  if (!id) return;
  try {
    const found = await ask("document", { id });
    if (ticket !== latest) return;
    const button = make("button", { type: "button", class: "link", id: "read-document", onclick: () => read(found) }, "Read it");
    notice(`${found.title || found.id} (${found.collection}). `, button);
  } catch (error) {
    if (ticket === latest) notice(error.code === "no_such_document" ? `No document ${id} in ${collections.map(({ name }) => name).join(", ")}.` : error.message);
  }
}
