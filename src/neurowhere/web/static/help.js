// Help: how to read a map, what the model is, how to cite it; in dialogs that keep the query.

import { ask } from "./api.js";
import { $, fill, make } from "./dom.js";
import { naming } from "./form.js";
import { copyWords } from "./share.js";
import { toast } from "./status.js";

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
    button.addEventListener("click", () => { $(button.dataset.dialog).showModal(); if (button.dataset.dialog === "what") cite(); });
  }
  for (const dialog of document.querySelectorAll("dialog")) { // a click beside it closes it
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  }
  $("copy-citation").addEventListener("click", async () => toast((await copyWords($("citation").textContent)) ? "Copied" : "The browser does not allow copying here"));
}

async function cite() {
  $("citation").textContent ||= (await ask("methods", naming()).catch(() => ({ bibtex: "" }))).bibtex;
}

export function tellModel(about) {
  fill($("model"), ...describe(about));
}
