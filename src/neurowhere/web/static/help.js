// Help: how to read a map, what the model is, how to cite it; in dialogs that keep the query.

import { $, fill, make } from "./dom.js";
import { copyWords } from "./share.js";
import { toast } from "./status.js";

const NEUROQUERY = `@article{dockes2020neuroquery,
  title   = {{NeuroQuery}, comprehensive meta-analysis of human brain mapping},
  author  = {Dock{\\\`e}s, J{\\'e}r{\\^o}me and Poldrack, Russell A. and Primet, Romain and G{\\"o}z{\\"u}kan, Hande and Yarkoni, Tal and Suchanek, Fabian and Thirion, Bertrand and Varoquaux, Ga{\\"e}l},
  journal = {eLife},
  volume  = {9},
  pages   = {e53385},
  year    = {2020}
}`;

const TEXT_TO_BRAIN = `@inproceedings{dockes2018text,
  title     = {Text to brain: predicting the spatial distribution of neuroimaging observations from text reports},
  author    = {Dock{\\\`e}s, J{\\'e}r{\\^o}me and Wassermann, Demian and Poldrack, Russell and Suchanek, Fabian and Thirion, Bertrand and Varoquaux, Ga{\\"e}l},
  booktitle = {Medical Image Computing and Computer Assisted Intervention (MICCAI)},
  year      = {2018}
}`;

const citation = ({ version, date }) => `@software{neurowhere,
  title   = {neurowhere: turning text about the brain into maps of the brain},
  author  = {{The neurowhere developers}},
  version = {${version}},
  year    = {${(date ?? "2026").slice(0, 4)}}
}

${TEXT_TO_BRAIN}

${NEUROQUERY}
`;

function describe(about) {
  const number = (value) => Number(value).toLocaleString("en");
  const rows = [
    ["Version", about.version],
    ["Studies", number(about.studies)],
    ["Reported peaks", number(about.peaks)],
    ["Terms", number(about.terms)],
    ["Grid", about.voxel_sizes_mm ? `${about.voxel_sizes_mm.join(" × ")} mm` : null],
    ["Atlas", about.atlas],
    ["Trained", about.date?.slice(0, 10)],
  ].filter(([, value]) => value && value !== "NaN");
  return rows.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, String(value))]);
}

export function wireHelp() {
  for (const button of document.querySelectorAll("[data-dialog]")) {
    button.addEventListener("click", () => $(button.dataset.dialog).showModal());
  }
  for (const dialog of document.querySelectorAll("dialog")) { // a click beside it closes it
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  }
  $("copy-citation").addEventListener("click", async () => toast((await copyWords($("citation").textContent)) ? "Copied" : "The browser does not allow copying here"));
}

export function tellModel(about) {
  fill($("model"), ...describe(about));
  $("citation").textContent = citation(about);
}
