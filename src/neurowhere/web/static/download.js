// Downloads: the answer as files.

import { ask, post } from "./api.js";
import { $, chosen } from "./dom.js";
import { toPng, toSvg } from "./figure.js";
import { saveBlob, saveTable } from "./share.js";
import { nowShown, viewer } from "./stage.js";

const N_ALL = 1000;
const [WORDS, LONGEST] = [8, 60]; // of the name of a file

async function save(path, query, name) {
  saveBlob(await (await post(path, query)).blob(), name);
}

// A name for files, after the query.
export const fileName = (mode, ending) => {
  const words = mode.title().normalize("NFKD").replace(/\p{M}/gu, "").replace(/[^\p{L}\p{N}]+/gu, " ").trim().split(" ").slice(0, WORDS).join("-").toLowerCase();
  return `${words.slice(0, LONGEST) || "neurowhere"}${ending}`;
};

const figure = (mode) => {
  const { words, what } = nowShown();
  return toSvg(viewer, { title: mode.title(), words, what, source: `${document.getElementById("about").textContent} · MNI152` });
};

// A figure for a paper shows the density if the page does, and else the ratio to the average.
const paper = (ending) => (mode) => save(`figure.${ending}`, {
  ...mode.query(), quantity: chosen("image") === "density" ? "density" : "ratio", layout: $("figure-layout").value, width_mm: Number($("figure-width").value),
}, fileName(mode, `.${ending}`));

const FORMS = {
  ...Object.fromEntries(["svg", "pdf", "png"].map((ending) => [`paper-${ending}`, paper(ending)])),
  nifti: (mode) => (mode.blob ? saveBlob(mode.blob(), fileName(mode, ".nii.gz")) : save(`${mode.kind}.nii.gz`, mode.mapQuery(), fileName(mode, ".nii.gz"))),
  png: async (mode) => saveBlob(await toPng(figure(mode)), fileName(mode, ".png")),
  svg: (mode) => saveBlob(new Blob([figure(mode)], { type: "image/svg+xml" }), fileName(mode, ".svg")),
  terms: (mode) => saveTable(mode.terms(), fileName(mode, "-terms.csv")),
  html: (mode) => save("encode.html", mode.query(), fileName(mode, ".html")),
  csv: async (mode) => {
    const rows = mode.rows?.() ?? mode.rowsOf(await ask(mode.kind, { ...mode.query(), regions: N_ALL }));
    saveTable(rows.map(({ at: [x, y, z], why, ...row }) => ({ ...row, x, y, z })), fileName(mode, "-regions.csv"));
  },
};

export async function download(button, mode) {
  button.disabled = true;
  try {
    await FORMS[button.dataset.form](mode);
  } finally {
    button.disabled = false;
  }
}
