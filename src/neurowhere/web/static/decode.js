// Decode: from places or a map to terms, studies and regions.

import { ask, decodeMap } from "./api.js";
import { pointing, ratioCell, tellAnswer, tellStudies } from "./answers.js";
import { $, capital, fill, make, mm, percent } from "./dom.js";
import { naming } from "./form.js";
import { NotAnImage, readNifti } from "./nifti.js";
import { roving } from "./roving.js";
import { goTo, showRegion } from "./stage.js";
import { notice } from "./status.js";
import { fillTable, placeButton } from "./tables.js";
import { Volume } from "./volume.js";

const N_TERMS = 40;
const N_UNREAD = 5; // rows that are told
const LEAST = 0.005; // share of a region that is listed
const FARTHEST_MM = 200;
const SPREAD_MM = 6; // of a point that is drawn
const STEP_MM = 3; // of the grid on which points are drawn
const GRID = { sizes: [54, 66, 58], origin: [-79, -114, -80] };

let given = null; // the map that was dropped: { name, file, volume }
let told = []; // regions of the answer
let terms = [];

// ---- what is given

export async function takeMap(file) {
  given = { name: file.name, file, volume: await readNifti(file) };
  $("given").textContent = file.name;
  $("given-map").hidden = false;
  $("negative").closest("label").hidden = !given.volume.hasNegative;
}

export function dropMap() {
  given = null;
  $("given-map").hidden = true;
  $("negative").closest("label").hidden = true;
  $("negative").checked = false;
  $("map-file").value = "";
}

// Points from rows: three numbers, whatever separates them, with a label or statistics beside them or not. A header may
// say which columns they are. Gives the points with their labels, and the rows that cannot be read.
export function readPoints(words) {
  const rows = words.replaceAll("−", "-").split(/[\n;]+/).map((row) => row.trim()).filter(Boolean);
  const cells = rows.map((row) => row.split(/[\s,\t]+/).filter(Boolean));
  const isHeader = rows.length > 0 && !/\d/.test(rows[0]);
  const columns = isHeader ? ["x", "y", "z"].map((name) => cells[0].findIndex((cell) => cell.toLowerCase() === name)) : [-1];
  const isCounted = cells.slice(isHeader ? 1 : 0).every((row, i) => row[0] === String(i + 1) && row.length > 3);
  const points = [];
  const unread = [];
  cells.forEach((row, i) => {
    if (isHeader && !i) return;
    const isTable = columns.every((column) => column >= 0) && row.length === cells[0].length;
    const start = isTable ? -1 : row.findIndex((_, at) => at >= Number(isCounted) && [0, 1, 2].every((k) => isPlace(row[at + k])));
    const at = isTable ? columns : [start, start + 1, start + 2];
    if (!isTable && start < 0) { unread.push([i + 1, rows[i]]); return; }
    const found = at.map((column) => Number(row[column]));
    if (!found.every((value) => isPlace(value))) { unread.push([i + 1, rows[i]]); return; }
    const others = row.filter((_, column) => !at.includes(column) && !(isCounted && !column));
    const isLabel = (cell) => /\p{L}/u.test(cell) && !/[=\d]/.test(cell);
    points.push({ at: found, label: others.filter(isLabel).join(" "), statistic: others.filter((cell) => !isLabel(cell)).join(" ") });
  });
  return { points: points.map(({ at }) => at), labels: points.map(({ label }) => label), statistics: points.map(({ statistic }) => statistic), unread, problem: points.length || !unread.length ? null : EXPECTED(unread[0][0]) };
}

const isPlace = (cell) => cell !== undefined && cell !== "" && Math.abs(Number(cell)) <= FARTHEST_MM;
const EXPECTED = (row) => `Row ${row}: expected three numbers in mm, from −${FARTHEST_MM} to ${FARTHEST_MM}, for example −24 −4 −18.`;

const typed = () => readPoints($("points").value);

// The points as a picture: a bump at each.
function drawn(points) {
  const [nx, ny, nz] = GRID.sizes;
  const values = new Float32Array(nx * ny * nz);
  for (let k = 0; k < nz; k += 1) for (let j = 0; j < ny; j += 1) for (let i = 0; i < nx; i += 1) {
    const at = [i, j, k].map((index, axis) => GRID.origin[axis] + STEP_MM * index);
    let highest = 0;
    for (const point of points) {
      const square = (at[0] - point[0]) ** 2 + (at[1] - point[1]) ** 2 + (at[2] - point[2]) ** 2;
      if (square < 9 * SPREAD_MM ** 2) highest = Math.max(highest, Math.exp(-square / (2 * SPREAD_MM ** 2)));
    }
    values[i + nx * (j + ny * k)] = highest;
  }
  const affine = GRID.origin.map((first, axis) => [0, 1, 2, 3].map((column) => (column === axis ? STEP_MM : column === 3 ? first : 0)));
  return new Volume(GRID.sizes, affine, values);
}

// ---- the mode

// Terms with how well their maps match, and how many times as likely they are for these places.
function tellTerms(rows) {
  const strongest = Math.max(...rows.map(({ score }) => score), 1e-9);
  $("peaks-note").textContent = "how well the map of the term matches, and how many times as likely a study about it reports peaks there";
  fillTable($("peaks"), ["Term", "Match", "Ratio"], rows.filter(({ score }) => score > 0).map(({ term, score, ratio }) => [
    make("button", { type: "button", class: "place-link wraps", ...pointing(term) }, term),
    make("span", { class: "meter", style: { "--share": score / strongest } }, score.toFixed(2)),
    ratioCell(ratio),
  ]));
  roving($("peaks"), ".place-link");
}

const threshold = () => {
  const value = Number($("threshold").value.replace(",", "."));
  return $("threshold").value.trim() && Number.isFinite(value) ? value : null;
};

function view() {
  if (given) return { words: `Your map: ${given.name}`, volumes: [given.volume], image: "given" };
  const { points } = typed();
  return { words: `Your ${points.length === 1 ? "point" : `${points.length} points`}`, volumes: [drawn(points)], image: "given", what: "points" };
}

function noteOf({ outside, threshold: lowest, notes }) {
  const words = [...notes.map((note) => `${capital(note)}.`)];
  if (lowest !== null && given) words.push(`Values above ${Number(lowest.toPrecision(3))} count.`);
  if (outside) words.push(`${outside} point${outside > 1 ? "s lie" : " lies"} outside of the brain and ${outside > 1 ? "were" : "was"} left out.`);
  const { unread } = given ? { unread: [] } : typed();
  if (unread.length) words.push(`Not read: ${unread.slice(0, N_UNREAD).map(([row, content]) => `row ${row} (“${content.slice(0, 40)}”)`).join(", ")}${unread.length > N_UNREAD ? ` and ${unread.length - N_UNREAD} more` : ""}.`);
  if (given?.volume.hasNegative) words.push($("negative").checked ? "The negative values are decoded, by their magnitude." : "Negative values were ignored; decode them apart with the switch.");
  return words.join(" ");
}

// ---- each point by itself

let rows = []; // of the table

function tellPoints(found) {
  const { points, labels, statistics } = given ? { points: [] } : typed();
  rows = found.map((point, i) => ({ ...point, at: points[i], label: labels[i], statistic: statistics[i] }));
  const hasStatistics = rows.some(({ statistic }) => statistic);
  fillTable($("points-table"), ["Point", ...(hasStatistics ? ["Statistic"] : []), "Region", "Terms"], rows.map(({ at, label, statistic, inside, name, terms: best }) => [
    placeButton(label ? `${label} (${mm(at)})` : mm(at), at, goTo),
    ...(hasStatistics ? [statistic] : []),
    inside ? make("span", { class: "wraps" }, capital(name ?? "–")) : make("span", { class: "soft" }, "outside of the brain"),
    make("span", { class: "wraps" }, best.join(", ")),
  ]));
  $("each-note").textContent = points.length > rows.length ? `the first ${rows.length} of ${points.length}` : "";
  $("each-point").hidden = rows.length < 2;
}

export const decoding = {
  tabs: { regions: "Regions", peaks: "Terms", place: "This place", studies: "Studies" },
  kind: "decode",
  firstTab: "peaks",
  query: () => ({ points: typed().points ?? [] }),
  isReady: () => Boolean(given) || Boolean($("points").value.trim() && typed().points?.length),
  problem: () => (given || !$("points").value.trim() ? null : typed().problem ?? null),
  ask: (signal) => (given ? decodeMap(given.file, { threshold: threshold(), negative: $("negative").checked && given.volume.hasNegative, n: N_TERMS, ...naming() }, signal)
    : ask("decode", { points: typed().points, each: typed().points.length > 1, n: N_TERMS, regions: 18, ...naming() }, signal)),
  view,
  rows: () => (given ? told : null), // a map is not sent again for its table
  terms: () => terms,
  points: () => rows.map(({ label, at: [x, y, z], statistic, region, name, terms: best }) => ({ label, x, y, z, statistic, region, name, terms: best.join("; ") })),
  rowsOf: (answer) => answer.regions,
  title: () => given?.name ?? $("points").value.trim().replace(/\s*\n\s*/g, "; "),
  empty: "No map yet: drop an image, or type coordinates",

  tell(answer) {
    told = answer.regions;
    terms = answer.terms;
    tellPoints(answer.points);
    notice(noteOf(answer) || null);
    tellAnswer(make("strong", {}, capital(answer.terms.slice(0, 3).map(({ term }) => term).join(", ")) || "No term matches"), make("span", { class: "soft" }, " match best"));
    tellTerms(answer.terms);
    $("regions-note").textContent = given ? "share of the map" : "share of the points";
    fillTable($("regions"), ["Region", "Share", "vs average"], answer.regions.filter(({ probability }) => probability >= LEAST).map((row) => [
      placeButton(capital(row.name), row.at, (at) => showRegion(row, at), row), percent(row.probability), ratioCell(row.ratio),
    ]));
    tellStudies($("similar"), answer.studies, answer.terms);
    $("similar-note").textContent = "training studies whose texts point there";
  },

  first: ({ regions }) => (given ? regions[0]?.at : typed().points[0]),
  spoken: ({ terms: [first] }) => (first ? `Decoded. First term: ${first.term}.` : "Decoded."),
  tellSentences: async () => fill($("sentences")),
};

// ---- wiring

export function wireDecode(run, trouble) {
  const take = async (file) => {
    try {
      await takeMap(file);
      run({ step: true });
    } catch (error) {
      dropMap();
      trouble(error instanceof NotAnImage ? error : { message: "The file cannot be read." });
    }
  };
  $("map-file").addEventListener("change", ({ target }) => target.files.length && take(target.files[0]));
  $("given-remove").addEventListener("click", () => { dropMap(); run({}); });
  for (const id of ["threshold", "negative"]) $(id).addEventListener("change", () => given && run({}));
  return take;
}

