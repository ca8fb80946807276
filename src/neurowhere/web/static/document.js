// Documents that are dropped on a text box: plain text is read here, the rest by the server.

import { readDocument } from "./api.js";

const KINDS = { pdf: "pdf", docx: "docx", html: "html", htm: "html", txt: "txt", md: "txt", text: "txt" };

export const isImage = (name) => /\.nii(\.gz)?$/i.test(name);

export const kindOf = (name) => KINDS[name.split(".").pop().toLowerCase()];

// The text of a file, and how long all of it is.
export async function textOf(file) {
  const kind = kindOf(file.name);
  if (!kind) throw new Error("Expected a text, PDF, Word (.docx) or HTML file.");
  if (kind !== "txt") return readDocument(file, kind);
  const text = await file.text();
  return { text, characters: Array.from(text).length };
}
