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
  const text = decoded(await file.arrayBuffer());
  return { text, characters: Array.from(text).length };
}

// Plain text is UTF-8, or UTF-16 if it says so; else it is of an old Windows program (Latin-1 and a few more).
export function decoded(bytes) {
  const [first, second] = new Uint8Array(bytes);
  const wide = { "255 254": "utf-16le", "254 255": "utf-16be" }[`${first} ${second}`];
  if (wide) return new TextDecoder(wide).decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}
