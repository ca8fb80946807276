// Uploads: the files that a user gives for a contrast, and what is told of them.

import { megabytes, readFiles, withinLimits } from "./collection.js";
import { $ } from "./dom.js";
import { notice, trouble, working } from "./status.js";

const N_PROBLEMS = 3; // that are told

let given = null; // what was read: { documents, words, problems, problem, names, size }
let reading = null; // the controller of the files that are being read

export const givenFiles = () => given;
export const isReading = () => Boolean(reading);

export async function takeFiles(files, limits) {
  stopReading();
  reading = new AbortController();
  const { signal } = reading;
  trouble(null);
  const found = await readFiles(files, working, signal);
  if (!found) return;
  reading = null;
  working(null);
  if (!found.documents.length) {
    trouble({ message: found.problems[0] ?? "The files hold no text." });
    return;
  }
  given = { ...found, ...withinLimits(found.documents, limits) };
  $("collection").value = "";
  tellGiven();
}

export function stopReading() {
  reading?.abort();
  reading = null;
  working(null);
}

export function dropFiles() {
  stopReading();
  given = null;
  $("files").value = "";
  notice(null);
  tellGiven();
}

const number = (n) => n.toLocaleString("en");

export function tellGiven() {
  const isOwn = !$("collection").value;
  $("files-drop").hidden = !isOwn;
  $("given-files").hidden = !given;
  $("files-limits").hidden = Boolean(given);
  if (!given || !isOwn) return;
  const { documents, names: [name, ...others], size, words, problems, problem } = given;
  const more = problems.length - N_PROBLEMS;
  $("files-words").textContent = `${number(documents.length)} document${documents.length > 1 ? "s" : ""}, ${megabytes(size)}: ${name}${others.length ? ` and ${number(others.length)} more` : ""}`;
  if (problem) trouble({ message: problem });
  const unread = problems.slice(0, N_PROBLEMS).map((reason) => `Not read: ${reason}.`);
  notice([...words, ...unread, ...(more > 0 ? [`And ${more} more files.`] : [])].join(" ") || null);
}

export function tellLimits({ max_job_texts: most, max_job_body: bytes, max_text: longest }) {
  $("files-limits").textContent = `A table (CSV, TSV) or JSON lines with a document in each row, under text, abstract, title or body; or a file for each document: PDF, Word, HTML, text. At most ${number(most)} documents, ${megabytes(bytes)} in all, ${number(longest)} characters of each.`;
}
