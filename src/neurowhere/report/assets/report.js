// Report: the viewer of a page that is read from disk; all that it shows is in the page.

import { $, capital, chosen, fill, make } from "./dom.js";
import { densityWords, legend, valueWords } from "./legend.js";
import { readNifti } from "./nifti.js";
import { Viewer, showTip } from "./viewer.js";
import { massOf, ratioOf } from "./volume.js";

const data = JSON.parse($("viewer-data").textContent);
const what = data.contrast ? "contrast" : null;

async function unpacked(packed) {
  return readNifti(new Blob([Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0))]));
}

async function start() {
  const { template, density, mean, atlas } = Object.fromEntries(await Promise.all(
    Object.entries(data.volumes).map(async ([name, packed]) => [name, await unpacked(packed)]),
  ));
  const images = { density, log_ratio: ratioOf(density, mean), mass: massOf(density) };
  const values = (point) => [...densityWords(density, mean, point, what), valueWords(images.mass.at(point), "mass")];
  const regionAt = (point) => atlas.comment[atlas.nearest(point) - 1] ?? ["", "no named region"];
  const isInside = (point) => mean.nearest(point) > 0;

  const viewer = new Viewer($("stage"), {
    onMove: tell,
    onView: () => {},
    onHover: (point, left, top) => showTip($("tip"), point && isInside(point) ? [capital(regionAt(point)[1]), ...values(point).slice(0, 2)] : [], left, top),
  });

  function show() {
    const image = chosen("image");
    const volume = images[image];
    viewer.style({ hidden: $("hidden").value / 100 });
    const scale = viewer.set({ template, maps: [{ volume }], image, view: chosen("view"), colours: data.average ? "grey" : null, raisedOnly: image === "log_ratio" });
    fill($("legend"), ...legend(scale, image === "log_ratio" ? what : null, volume.hasNegative));
    $("hidden").disabled = image === "mass";
  }

  function tell(at) {
    ["x", "y", "z"].forEach((axis, i) => { $(axis).value = at[i]; });
    const [label, name] = isInside(at) ? regionAt(at) : ["", "outside the brain"];
    fill($("here"), make("b", {}, capital(name)), ...(isInside(at) ? [` · ${values(at).join(" · ")}`] : []));
    fill($("why"), ...(data.why[label] ?? []).map(([term, value]) =>
      make("li", { class: value > 0 ? "raises" : "lowers" }, `${term} ${value > 0 ? "+" : "−"}${Math.abs(value).toFixed(2)}`)));
    for (const button of document.querySelectorAll("[data-place]")) button.toggleAttribute("data-here", button.dataset.place === at.join(" "));
  }

  function typed(event) {
    event.preventDefault();
    const at = ["x", "y", "z"].map((axis) => Number($(axis).value.replace("−", "-")));
    if (at.every(Number.isFinite)) viewer.moveTo(at);
  }

  for (const input of document.querySelectorAll("input[name=image], input[name=view], #hidden")) input.addEventListener("input", show);
  for (const name of ["change", "submit"]) $("coordinates").addEventListener(name, typed);
  for (const button of document.querySelectorAll("[data-place]")) {
    button.addEventListener("click", () => {
      viewer.moveTo(button.dataset.place.split(" ").map(Number));
      $("viewer").scrollIntoView({ block: "nearest" });
    });
  }
  $("viewer").classList.add("live");
  show();
  viewer.lookAt(data.place);
}

start();
