// Downloads: the answer as files.

import { ask, post } from "./api.js";
import { toPng, toSvg } from "./figure.js";
import { saveBlob, saveTable } from "./share.js";
import { nowShown, viewer } from "./stage.js";

const N_ALL = 1000;

async function save(path, query, name) {
  saveBlob(await (await post(path, query)).blob(), name);
}

const figure = (mode) => {
  const { words, what } = nowShown();
  return toSvg(viewer, { title: mode.title(), words, what, source: `${document.getElementById("about").textContent} · MNI152` });
};

const FORMS = {
  nifti: (mode) => (mode.blob ? saveBlob(mode.blob(), "map.nii.gz") : save(`${mode.kind}.nii.gz`, mode.mapQuery(), "map.nii.gz")),
  png: async (mode) => saveBlob(await toPng(figure(mode)), "figure.png"),
  svg: (mode) => saveBlob(new Blob([figure(mode)], { type: "image/svg+xml" }), "figure.svg"),
  html: (mode) => save("encode.html", mode.query(), "report.html"),
  csv: async (mode) => {
    const rows = mode.rows?.() ?? mode.rowsOf(await ask(mode.kind, { ...mode.query(), regions: N_ALL }));
    saveTable(rows.map(({ at: [x, y, z], why, ...row }) => ({ ...row, x, y, z })), "regions.csv");
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
