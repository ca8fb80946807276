// Contrast: what sets the documents that mention a term apart; long work that the server does as a job.

import { forgetJob, get, getBlob, startJob } from "./api.js";
import { megabytes } from "./collection.js";
import { captionOf, tellContrast } from "./contrasted.js";
import { $, chosen, fill, make } from "./dom.js";
import { readNifti } from "./nifti.js";
import { trouble, working } from "./status.js";
import { dropFiles, givenFiles, isReading, stopReading, takeFiles, tellGiven, tellLimits } from "./uploads.js";

const IMAGES = ["density", "log_ratio", "significant"];
const N_ALL = 1000; // regions: all of an atlas
const LOOK_MS = [200, 1000]; // between two looks at a job: at first, and later
const FIRST_LOOKS = 5;
const STAGES = ["Starting", "Reading and comparing the documents"];

let limits = { max_text: 50_000, max_job_texts: 10_000, max_job_body: 10_000_000, keep_seconds: 600 };
let job = null; // the last one: { id, asked, found: { answer, volumes, blobs } | null }
let wanted = false; // whether a new one is to be started
const finished = new Map(); // jobs of this page whose results are here, by name

// ---- what is asked

const asked = () => ({
  group: $("group").value.trim(), against: $("against").value.trim(), collection: $("collection").value,
  unadjusted: $("unadjusted").checked, matched: $("matched").checked && !$("unadjusted").checked,
});

function queryOf({ group, against, collection, unadjusted, matched }) {
  const source = collection ? { collection } : { documents: givenFiles().documents };
  return { ...source, term: group, against: against || null, unadjusted, matched, regions: N_ALL };
}

function problemOf({ group, collection }) {
  if (isReading()) return "The files are still being read.";
  if (!group) return "Write a term that documents of interest mention, for example aphasi*.";
  if (collection) return null;
  if (!givenFiles()) return "Drop documents first, or choose their files.";
  if (givenFiles().documents.length < 2) return "Expected at least two documents; a contrast takes some dozens of them.";
  return givenFiles().problem;
}

// Take a press of the button: whether a contrast can be started.
export function wantContrast() {
  const problem = problemOf(asked());
  trouble(problem ? { message: problem } : null);
  wanted = !problem;
  return wanted;
}

// What the address says of the contrast that is shown, so that a reload finds it.
export const contrastFields = () => (job ? { ...job.asked, job: job.id } : {});

// Go on with a job that the address names, unless it is the one at hand.
export function resumeContrast(id) {
  if (job?.id !== id) job = id ? finished.get(id) ?? { id, asked: asked(), found: null } : null;
}

// ---- the job

const wait = (milliseconds, signal) => new Promise((done, failed) => {
  const timer = setTimeout(done, milliseconds);
  signal.addEventListener("abort", () => { clearTimeout(timer); failed(signal.reason); }, { once: true });
});

async function begin(question, signal) {
  working(question.collection ? STAGES[0] : `Sending ${megabytes(givenFiles().size)}`);
  if (job) forget(job); // a server keeps a few, and the page has its result
  const { id } = await startJob("contrast", queryOf(question), signal);
  return { id, asked: question, found: null };
}

const forget = ({ id }) => forgetJob(id).catch(() => {});

// Look at a job until it is done, and tell how far it is.
async function finish(id, signal) {
  const begun = Date.now();
  for (let looks = 0; ; looks += 1) {
    const { state, done } = await get(`jobs/${id}`, signal);
    if (state === "done") return;
    if (state === "failed") await get(`jobs/${id}/result`, signal); // which says why, and what to do
    const seconds = Math.round((Date.now() - begun) / 1000);
    const words = state === "waiting" ? "Waiting for other work of the server" : STAGES[Math.min(done, STAGES.length - 1)];
    working(`${words}${seconds > 2 ? ` · ${seconds} s` : ""}`); // stages differ too much in length for a share
    await wait(LOOK_MS[Number(looks >= FIRST_LOOKS)], signal);
  }
}

async function fetchResult(id, signal) {
  const [answer, ...blobs] = await Promise.all([
    get(`jobs/${id}/result`, signal), ...IMAGES.map((name) => getBlob(`jobs/${id}/result.nii.gz?image=${name}`, signal)),
  ]);
  const volumes = await Promise.all(blobs.map(readNifti));
  const byImage = (list) => Object.fromEntries(IMAGES.map((name, i) => [name, list[i]]));
  return { answer, volumes: byImage(volumes), blobs: byImage(blobs) };
}

// Start a job if one is wanted, and wait for the last one; `started` is called once it has a name.
async function ask(signal, started) {
  const isNew = wanted;
  wanted = false;
  try {
    if (isNew) {
      job = await begin(asked(), signal);
      started();
    }
    const mine = job;
    if (!mine.found) {
      working(STAGES[0]);
      await finish(mine.id, signal);
      mine.found = await fetchResult(mine.id, signal);
      finished.set(mine.id, mine);
    }
    return mine.found.answer;
  } catch (error) {
    if (error.name === "AbortError") throw error;
    job = null;
    throw error.code === "no_such_job" ? gone(error) : error;
  } finally {
    if (!signal.aborted) working(null);
  }
}

function gone(error) {
  error.message = "The result of this contrast is no longer on the server.";
  error.hint = `Results are kept for ${keptFor()}. Contrast the documents again.`;
  return error;
}

const keptFor = () => (limits.keep_seconds >= 120 ? `${Math.round(limits.keep_seconds / 60)} minutes` : `${Math.round(limits.keep_seconds)} seconds`);

// ---- the mode

const image = () => (IMAGES.includes(chosen("image")) ? chosen("image") : "log_ratio");

function view() {
  const { answer, volumes } = job.found;
  return { words: captionOf(answer, image()), volumes: [volumes[image()]], image: image(), what: image() === "density" ? "documents" : "contrast" };
}

export const contrasting = {
  tabs: { regions: "Regions", peaks: "Terms", place: "This place", studies: "Texts" },
  kind: "contrast",
  answersFirst: true, // its map is known only then
  query: () => job.asked,
  isReady: () => wanted || Boolean(job),
  ask,
  view,
  title: () => captionOf(job.found.answer, image()),
  rows: () => job.found.answer.regions,
  blob: () => job.found.blobs[image()],
  empty: "No map yet: give documents and a term",

  tell(answer) {
    tellContrast(answer);
    $("kept").hidden = false;
    const documents = job.asked.collection ? "" : ", and the documents no longer than the work";
    $("kept-words").textContent = `The server keeps this result for ${keptFor()}${documents}.`;
  },

  first: () => job.found.volumes.log_ratio.peak,
  spoken: ({ most_raised: [first], outcome }) => `Contrast ready. ${first ? `Most raised: ${first}` : outcome}.`,
  tellSentences: async () => {},
};

// ---- wiring

// Stop what is under way, and delete what is on the server.
function stop() {
  stopReading();
  if (job) { forget(job); finished.delete(job.id); }
  job = null;
}

// `changed` is called when what is asked differs from what is shown, `run` to show what is there.
export function wireContrast({ changed, run }) {
  const take = async (files) => { await takeFiles(files, limits); changed(); };
  for (const id of ["group", "against", "collection", "unadjusted", "matched"]) $(id).addEventListener("input", changed);
  $("collection").addEventListener("change", tellGiven);
  $("files").addEventListener("change", ({ target }) => target.files.length && take([...target.files]));
  $("files-remove").addEventListener("click", () => { dropFiles(); changed(); });
  for (const id of ["work-stop", "delete"]) $(id).addEventListener("click", () => { stop(); run({}); });
  return take;
}

// What the server says of itself: its limits and its collections.
export function tellCollections({ collections = [], limits: theirs }) {
  limits = theirs;
  tellLimits(limits);
  const [own] = $("collection").options;
  const before = $("collection").value;
  fill($("collection"), own, ...collections.map(({ name, documents }) => make("option", { value: name }, `${name} (${documents.toLocaleString("en")} documents)`)));
  $("collection").value = collections.some(({ name }) => name === before) ? before : "";
  $("collections").hidden = !collections.length;
  tellGiven();
}

// List a collection that an address names before the server has told its own.
export function listCollection(name) {
  const isListed = [...$("collection").options].some(({ value }) => value === name);
  if (name && !isListed) $("collection").append(make("option", { value: name }, name));
}
