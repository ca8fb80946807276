// Sharing: links, files and code that reproduce a query.

import { make } from "./dom.js";

// The query after the #, which a browser keeps to itself.
export function toLink({ text, other, mode, image, at, negation, laterality }) {
  const fields = { text, image, at: at.join(","), ...(mode === "two" && { mode, other }) };
  if (!negation) fields.negation = "0";
  if (!laterality) fields.laterality = "0";
  return `${location.origin}${location.pathname}#${new URLSearchParams(fields)}`;
}

export function fromLink(hash) {
  const fields = Object.fromEntries(new URLSearchParams(hash.slice(1)));
  const at = fields.at?.split(",").map(Number);
  return {
    ...fields,
    at: at?.length === 3 && at.every(Number.isFinite) ? at : null,
    negation: fields.negation !== "0",
    laterality: fields.laterality !== "0",
  };
}

export function asPython({ text, other, negation, laterality }) {
  const options = `${negation ? "" : ", negation=False"}${laterality ? "" : ", laterality=False"}`;
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

export function saveBlob(blob, name) {
  const address = URL.createObjectURL(blob);
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

export function saveTable(rows, name) {
  const cell = (value) => {
    const words = String(value ?? "");
    return /[",\n]/.test(words) ? `"${words.replaceAll('"', '""')}"` : words;
  };
  const names = Object.keys(rows[0] ?? {});
  const lines = [names, ...rows.map((row) => names.map((key) => row[key]))].map((line) => line.map(cell).join(","));
  saveBlob(new Blob([`${lines.join("\n")}\n`], { type: "text/csv" }), name);
}
