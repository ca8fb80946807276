// Sharing: files and code that reproduce a query.

import { make } from "./dom.js";

export function asPython({ text, other, negation, sides }) {
  const options = `${negation ? "" : ", negation=False"}${sides ? "" : ", sides=False"}`;
  const encode = (words) => `model.encode(${JSON.stringify(words)}${options})`;
  const lines = ["from neurowhere import load_model", "", "model = load_model()", `result = ${encode(text)}`];
  if (other === undefined) lines.push("result.density_img, result.peaks, result.terms");
  else lines.push(`other = ${encode(other)}`, "result.log_ratio - other.log_ratio");
  return `${lines.join("\n")}\n`;
}

export function asCurl(kind, query) {
  const body = JSON.stringify(query).replaceAll("'", "'\\''");
  return `curl -s ${new URL(`api/v1/${kind}`, location.href)} -H 'Content-Type: application/json' -d '${body}'`;
}

// Copy words; also where the browser has no clipboard for pages, as on plain http.
export async function copyWords(words) {
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(words);
      return true;
    } catch { /* not allowed: the old way */ }
  }
  const field = make("textarea", { class: "hidden", "aria-hidden": "true" });
  const before = document.activeElement;
  field.value = words;
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  before?.focus();
  return done;
}

// HTML that shows the map of a query within another page, if the server allows that (--embed).
export function embedCode(link) {
  const address = link.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  return `<iframe src="${address}" title="Brain map" width="640" height="560" loading="lazy"></iframe>`;
}

const [WORDS, LONGEST] = [8, 60]; // of the name of a file

// Words as a part of the name of a file.
export function slug(words) {
  const plain = words.normalize("NFKD").replace(/\p{M}/gu, "").replace(/[^\p{L}\p{N}]+/gu, " ").trim();
  return plain.split(" ").slice(0, WORDS).join("-").toLowerCase().slice(0, LONGEST) || "neurowhere";
}

export function saveBlob(blob, name) {
  const address = URL.createObjectURL(blob);
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

export function asCsv(rows) {
  const cell = (value) => {
    const words = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value ?? ""); // no formula
    return /[",\n]/.test(words) ? `"${words.replaceAll('"', '""')}"` : words;
  };
  const names = Object.keys(rows[0] ?? {});
  const lines = [names, ...rows.map((row) => names.map((key) => row[key]))].map((line) => line.map(cell).join(","));
  return `${lines.join("\n")}\n`;
}

export const saveTable = (rows, name) => saveBlob(new Blob([asCsv(rows)], { type: "text/csv" }), name);
