// Many: a table of many texts, a row with a small map for each; a press on one opens it.

import { placesOf } from "./answers.js";
import { readFiles, withinLimits } from "./collection.js";
import { $, capital, fill, make, times } from "./dom.js";
import { naming, reading } from "./form.js";
import { encodeWithMap, fileOf, mapOf } from "./maps.js";
import { scaleOf } from "./colours.js";
import { arrange, drawSection } from "./sections.js";
import { saveTable } from "./share.js";
import { fillTable } from "./tables.js";

const MOST = 500;
const [WIDTH, HEIGHT] = [156, 56]; // of a small map, in CSS pixels
const LOOKS = { hidden: 0.9, colours: "ember", opacity: 0.9 };
const N_REGIONS = 6;
const COLUMNS = { // by which rows can be sorted
  name: ["Text", ({ name }) => name], where: ["Where", ({ where }) => where], nats: ["Support", ({ answer }) => -(answer?.support.nats ?? -1)], ratio: ["Peak", ({ answer }) => -(answer?.peaks[0]?.ratio ?? 0)],
};

let rows = [];
let working = null; // the controller of the texts that are being read
let by = null; // the column that rows are sorted by

const TABLE = /\.(csv|tsv|jsonl|ndjson)(\.gz)?$/i;

// Whether files are many texts: several files, or a table.
export const areMany = (files) => files.length > 1 || TABLE.test(files[0]?.name ?? "");

export async function openMany(files, limits, open) {
  working?.abort();
  working = new AbortController();
  const { signal } = working;
  $("many").hidden = false;
  const found = await readFiles(files, tellProgress, signal);
  if (!found) return;
  const { documents } = withinLimits(found.documents.slice(0, MOST), limits);
  rows = documents.map(({ id, text }, i) => ({ name: id ?? `Text ${i + 1}`, text, where: "", open: () => open(text, id ?? `Text ${i + 1}`) }));
  by = null;
  const left = found.documents.length - rows.length;
  $("many-note").textContent = [...found.problems.map((problem) => `Not read: ${problem}.`), ...(left > 0 ? [`The first ${rows.length} of ${found.documents.length} texts are shown.`] : [])].join(" ");
  draw();
  for (const [i, row] of rows.entries()) {
    if (signal.aborted) return;
    tellProgress(`${i} of ${rows.length} texts`, i / rows.length);
    await read(row, signal);
    if (signal.aborted) return;
    draw();
  }
  tellProgress(`${rows.length} text${rows.length > 1 ? "s" : ""}`, null);
  $("many-save").disabled = false;
}

async function read(row, signal) {
  const asked = { text: row.text, ...reading() };
  try {
    row.answer = await encodeWithMap({ ...asked, ...naming(), regions: N_REGIONS }, asked, signal);
    const { support, regions, peaks } = row.answer;
    row.where = support.withheld ? capital(support.withheld) : placesOf(regions);
    if (!support.withheld) row.picture = await smallMap(await mapOf("encode", { ...asked, image: "log_ratio" }, signal), peaks[0]?.at ?? [0, 0, 0]);
  } catch (error) {
    if (error.name !== "AbortError") row.where = error.message;
  }
}

async function smallMap(volume, at) {
  const template = await fileOf("mni152-coarse");
  const dpr = window.devicePixelRatio || 1;
  const canvas = make("canvas", { width: WIDTH * dpr, height: HEIGHT * dpr, "aria-hidden": "true" });
  const scale = scaleOf([volume], "log_ratio", LOOKS);
  for (const panel of arrange(1, canvas.width, canvas.height).panels) {
    if (!panel.isSolid) drawSection(canvas.getContext("2d"), { template, volume, scale, at }, panel);
  }
  return canvas;
}

function tellProgress(words, share) {
  $("many-words").textContent = words;
  $("many-bar").hidden = share === null;
  if (share !== null) $("many-bar").value = share;
}

function draw() {
  const value = by && COLUMNS[by][1];
  const sorted = value ? [...rows].sort((a, b) => (value(a) < value(b) ? -1 : 1)) : rows;
  const heads = Object.entries(COLUMNS).map(([key, [words]]) => ({ words, sorted: key === by, onclick: () => { by = key; draw(); } }));
  fillTable($("many-table"), ["Map", ...heads], sorted.map((row) => [
    row.picture ?? "", make("button", { type: "button", class: "place-link", onclick: row.open }, row.name),
    make("span", { class: "wraps" }, row.where), row.answer?.support.level ?? "", times(row.answer?.support.withheld ? null : row.answer?.peaks[0]?.ratio ?? null),
  ]));
}

const saved = ({ name, where, answer }) => ({
  name, where, support: answer?.support.level ?? "", kind: answer?.kind ?? "", nats: answer?.support.nats ?? "",
  ...Object.fromEntries(["x", "y", "z"].map((axis, i) => [axis, answer?.support.withheld ? "" : answer?.peaks[0]?.at[i] ?? ""])),
  ratio: answer?.support.withheld ? "" : answer?.peaks[0]?.ratio ?? "", regions: answer?.support.withheld ? "" : answer?.regions.map((region) => region.name).join("; ") ?? "",
});

export function wireMany() {
  $("many-save").addEventListener("click", () => saveTable(rows.map(saved), "texts.csv"));
  $("many-close").addEventListener("click", () => {
    working?.abort();
    rows = [];
    fill($("many-table").tBodies[0]);
    $("many").hidden = true;
  });
}
