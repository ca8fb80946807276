// Downloads: the answer as files.

import { ask, post } from "./api.js";
import { saveBlob, saveTable } from "./share.js";

const N_ALL = 1000;

async function save(path, query, name) {
  saveBlob(await (await post(path, query)).blob(), name);
}

const FORMS = {
  nifti: (mode) => save(`${mode.kind}.nii.gz`, mode.mapQuery(), "map.nii.gz"),
  png: (mode) => save(`${mode.kind}.png`, mode.mapQuery(), "map.png"),
  html: (mode) => save("encode.html", mode.query(), "report.html"),
  csv: async (mode) => {
    const rows = mode.rowsOf(await ask(mode.kind, { ...mode.query(), regions: N_ALL }));
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
