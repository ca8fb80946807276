// Many: a table of many texts, a row with a small map for each; a press on one opens it.

import { readFiles, withinLimits } from "./collection.js";
import { $, capital, fill, make, times } from "./dom.js";
import { naming, reading } from "./form.js";
import { encodeWithMap, fileOf, mapOf } from "./maps.js";
import { scaleOf } from "./colours.js";
import { arrange, drawSection } from "./sections.js";
import { asCsv, saveBlob, saveTable, slug } from "./share.js";
import { fillTable } from "./tables.js";
import { zip } from "./zip.js";

const MOST = 2000;
const FEW = 500; // whose small maps are as fine as the screen
const REDRAWN_MS = 1000; // while texts are read
const MORE = "For more, neurowhere encode FILE -o FOLDER on the command line reads any number.";
const [WIDTH, HEIGHT] = [156, 56]; // of a small map, in CSS pixels
const LOOKS = { hidden: 0.9, colours: "ember", opacity: 0.9 };
const N_REGIONS = 12;
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
  $("many-note").textContent = [...found.problems.map((problem) => `Not read: ${problem}.`), ...(left > 0 ? [`The first ${rows.length.toLocaleString("en")} of ${found.documents.length.toLocaleString("en")} texts are read. ${MORE}`] : [])].join(" ");
  setSaving(false);
  draw();
  let drawn = Date.now();
  for (const [i, row] of rows.entries()) {
    tellProgress(`${i} of ${rows.length} texts`, i / rows.length);
    await read(row, signal);
    if (signal.aborted) return;
    if (Date.now() - drawn > REDRAWN_MS) { draw(); drawn = Date.now(); }
  }
  draw();
  tellProgress(`${rows.length} text${rows.length > 1 ? "s" : ""}`, null);
  setSaving(true);
}

function setSaving(yes) {
  for (const id of ["many-save", "many-maps"]) $(id).disabled = !yes;
}

async function read(row, signal) {
  const asked = { text: row.text, ...reading() };
  try {
    row.answer = await encodeWithMap({ ...asked, ...naming(), regions: N_REGIONS }, asked, signal);
    const { support, places, peaks } = row.answer;
    row.where = support.withheld ? capital(support.withheld) : places;
    if (!support.withheld) row.picture = await smallMap(await mapOf("encode", { ...asked, image: "log_ratio" }, signal), peaks[0]?.at ?? [0, 0, 0]);
  } catch (error) {
    if (error.name !== "AbortError") row.where = error.message;
  }
}

async function smallMap(volume, at) {
  const template = await fileOf("mni152-coarse");
  const dpr = rows.length > FEW ? 1 : window.devicePixelRatio || 1;
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

// The table and all maps; the files of maps have the numbers of the rows, as names may be anything.
async function saveMaps() {
  setSaving(false);
  const width = String(rows.length).length;
  const files = rows.map((row, i) => [`${String(i + 1).padStart(width, "0")}-${slug(row.name)}.nii.gz`, row.answer?.support.withheld ? null : row.answer?.map]);
  const listed = rows.map((row, i) => ({ ...saved(row), map: files[i][1] ? files[i][0] : "" }));
  const whole = [["texts.csv", new Blob([asCsv(listed)])], ...files.filter(([, map]) => map)];
  saveBlob(await zip(whole), "maps.zip");
  setSaving(true);
}

export function wireMany() {
  $("many-save").addEventListener("click", () => saveTable(rows.map(saved), "texts.csv"));
  $("many-maps").addEventListener("click", saveMaps);
  $("many-close").addEventListener("click", () => {
    working?.abort();
    rows = [];
    fill($("many-table").tBodies[0]);
    $("many").hidden = true;
  });
}
