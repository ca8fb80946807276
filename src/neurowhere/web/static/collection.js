// Collection: files that a user gives, as documents; tables are read here, PDF and Word by the server.

import { decoded, kindOf, textOf } from "./document.js";
import { unpacked } from "./nifti.js";
import { lineRecords, tableRecords } from "./tablefile.js";

const TABLES = { csv: tableRecords, tsv: tableRecords, jsonl: lineRecords, ndjson: lineRecords };
const SECTIONS = ["title", "abstract", "keywords", "body"];
const IDS = ["id", "pmid", "pmcid", "doi"];

export class Unfit extends Error {}

const ending = (name) => name.toLowerCase().replace(/\.gz$/, "").split(".").pop();

// The text of a record: the whole, and the sections that are not part of it.
export function documentOf(record) {
  const whole = String(record.text ?? "");
  const parts = SECTIONS.map((name) => String(record[name] ?? "")).filter((part) => part.trim() && !whole.includes(part));
  const name = IDS.map((key) => record[key]).find((value) => value !== undefined && value !== null && value !== "");
  return { ...(name === undefined ? {} : { id: String(name).slice(0, 200) }), text: [...parts, whole].join("\n\n").trim() };
}

async function documentsOf(file) {
  const records = TABLES[ending(file.name)];
  if (!records) {
    if (!kindOf(file.name)) throw new Unfit("expected a table (CSV, TSV), JSON lines, PDF, Word (.docx), HTML or text");
    return [{ id: file.name.slice(0, 200), text: (await textOf(file)).text }];
  }
  const words = decoded(await unpacked(file));
  const found = records(words.replace(/^\uFEFF/, "")).map(documentOf).filter(({ text }) => text);
  if (!found.length) throw new Unfit("expected a column named text, abstract, title or body");
  return found;
}

// Read files one after the other; `told` hears how far it is. What cannot be read is told, not fatal.
export async function readFiles(files, told, signal) {
  const found = { documents: [], problems: [], names: files.map(({ name }) => name) };
  for (const [i, file] of files.entries()) {
    if (signal.aborted) return null;
    told(`Reading file ${i + 1} of ${files.length}`, i / files.length);
    try {
      found.documents.push(...await documentsOf(file));
    } catch (error) {
      found.problems.push(`${file.name}: ${error.message}`);
    }
  }
  return signal.aborted ? null : found;
}

// Documents within the limits of the server, and words on what was left out or cut.
export function withinLimits(documents, { max_text: longest, max_job_texts: most, max_job_body: bytes }) {
  const number = (n) => n.toLocaleString("en");
  const words = [];
  const cut = documents.slice(0, most).map((document) => ({ ...document, text: shortened(document.text, longest) }));
  const nCut = cut.filter(({ text }, i) => text !== documents[i].text).length;
  if (documents.length > most) words.push(`The first ${number(most)} of ${number(documents.length)} documents are taken.`);
  if (nCut) words.push(`Of ${number(nCut)} long document${nCut > 1 ? "s" : ""} the first ${number(longest)} characters are read.`);
  const size = new Blob([JSON.stringify(cut)]).size;
  const problem = size > bytes - 2000 ? `The documents have ${megabytes(size)}; this server takes ${megabytes(bytes)} at once. Give fewer, or shorter ones.` : null;
  return { documents: cut, words, problem, size };
}

const shortened = (text, longest) => (text.length > longest ? Array.from(text).slice(0, longest).join("") : text);

export const megabytes = (bytes) => (bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${Number((bytes / 1e6).toPrecision(2))} MB`);
