// The page: from what is asked to what is shown, and the wiring between the two.

import { addressed, drawRecent, forget, linkTo, nameTab, onAddress, record, remember, setRemembering } from "./address.js";
import { clearAnswers, tellUnknown } from "./answers.js";
import { loadAtlas } from "./atlas.js";
import { ask, get } from "./api.js";
import { twoTexts } from "./compare.js";
import { isImage, textOf } from "./document.js";
import { $, capital, choose, chosen, settle } from "./dom.js";
import { decoding, wireDecode } from "./decode.js";
import { download, drawing } from "./download.js";
import { onDrop } from "./drop.js";
import { listCollection, contrastFields, contrasting, resumeContrast, tellCollections, wantContrast, wireContrast } from "./contrast.js";
import { EXAMPLES, drawExamples } from "./examples.js";
import { LOOKS, isPair, looks, naming, readForm, reading, writeForm } from "./form.js";
import { tellModel, wireHelp } from "./help.js";
import { offerDocument, offerFrom } from "./lookup.js";
import { oneText } from "./onetext.js";
import { areMany, openMany, wireMany } from "./many.js";
import { wireMenus } from "./menus.js";
import { movedTo, place, tellHere, tellIfOpen, typedPlace } from "./place.js";
import { asCurl, asPython, copyWords, embedCode } from "./share.js";
import { begin as beginStage, bringIntoSight, clearStage, drawLegend, hooks, nowShown, prepare, unpin, viewer } from "./stage.js";
import { busy, notice, say, stale, toast, trouble } from "./status.js";
import { nameTabs, openTab, wireTabs } from "./tabs.js";
import { oneTerm, tellRelated, wireTerm } from "./term.js";

const TYPING_MS = 450;
const NARROW = "(max-width: 759px)"; // as in the style
const TRY = "Name a part of the brain, a function or a disorder, in English: amygdala, reading, stroke.";
const RESTING_MS = 2500; // after which a text that is typed is worth remembering

let running = null; // the controller of the request under way
let kindRead = null; // report or study, as the text that is shown was read
let answered = null; // the mode whose answer is shown, or null
let limit = 50_000; // characters of a text
let limits = { max_text: limit, max_job_texts: 10_000, max_job_body: 10_000_000 };
let current = true; // whether what is shown answers what the form asks
let settled = true; // whether the query in the address is worth going back to
let noteAddress = () => {};

const MODES = { one: oneText, term: oneTerm, decode: decoding, documents: contrasting };
const mode = () => (isPair() ? twoTexts : MODES[chosen("mode")] ?? oneText);
const isEmbedded = () => document.body.classList.contains("embedded");
const isContrast = () => chosen("mode") === "documents";
const fields = () => ({ ...readForm(), ...(isContrast() && contrastFields()), at: place().join(","), ...(isEmbedded() && { embed: "1" }) });

// ---- asking

const askSoon = settle(() => run({ typed: true }), TYPING_MS);

// Something was typed: what is under way answers another text, and is dropped.
function later() {
  current = false;
  running?.abort();
  askSoon();
}

// What is asked has changed, but is not asked yet: the answer that is shown is another's.
function unasked() {
  current = false;
  stale(Boolean(answered));
}

// Ask as a press of the button does; on a phone, where the map is below it, go there.
async function runNow() {
  if (isContrast() && !wantContrast()) return;
  await run({ step: true });
  if (answered && window.matchMedia(NARROW).matches) bringIntoSight();
}

// Ask, and show all of the answer at once; what was asked before is given up.
async function run({ step = false, at = null, typed = false } = {}) {
  askSoon.cancel(); // what was typed is asked now
  current = false;
  running?.abort();
  running = new AbortController();
  const { signal } = running;
  const asked = mode();
  if (!asked.isReady()) { clear(asked, step); return; }
  busy(true);
  try {
    let isStep = step; // a job is noted when it starts, so that a reload finds it
    const started = () => { record(fields(), { step }); noteAddress(); isStep = false; };
    const [answer, show] = await answerOf(asked, signal, started);
    if (signal.aborted) return;
    current = true;
    tell(asked, answer, show, at);
    if (!typed) openTab(asked.firstTab ?? "regions");
    note({ step: isStep || (typed && settled) });
    settled = !typed;
    rememberSoon();
  } catch (error) {
    if (error.name === "AbortError" || signal.aborted) return;
    trouble(error, () => run({ step, at, typed }));
    stale(true);
  } finally {
    if (!signal.aborted) busy(false);
  }
}

// An answer and its map, side by side; a map that comes of the answer follows it.
async function answerOf(asked, signal, started) {
  if (!asked.answersFirst) return Promise.all([asked.ask(signal), prepare(asked.view(), signal)]);
  const answer = await asked.ask(signal, started);
  return [answer, await prepare(asked.view(), signal)];
}

function tell(asked, answer, show, at) {
  answered = asked;
  kindRead = answer.kind ?? null;
  trouble(null);
  stale(false);
  nameTabs(asked.tabs);
  asked.tell(answer, correct, () => run(), () => note());
  nameTab(asked.title());
  $("by-sentence").open = false;
  const there = at ?? asked.first(answer);
  const draw = (present) => {
    withhold(null);
    setExports(true);
    present();
    if (there) viewer.lookAt(there);
  };
  if (answer.support?.withheld) withhold(answer, () => draw(showImage));
  else draw(show);
  say(asked.spoken(answer));
  tellRelated(answer.related ?? [], openTerm);
  loadAtlas().then(tellHere, () => {});
}

// A map that is withheld has its reason in its place, until it is asked for.
function withhold(answer, draw = null) {
  document.body.toggleAttribute("data-withheld", Boolean(answer));
  viewer.scene.blank = Boolean(answer);
  $("withheld").hidden = !answer;
  $("draw-anyway").onclick = draw;
  if (!answer) return;
  const { support, unknown, mentions } = answer;
  const isPlain = support.outside || support.foreign || mentions.some(({ negation_where: denied }) => denied);
  $("withheld-words").textContent = `${capital(support.withheld)}.`;
  tellUnknown($("withheld-try"), support.foreign ? [] : unknown.filter(({ suggestions }) => suggestions.length), 0, correct);
  if ($("withheld-try").hidden) $("withheld-try").textContent = isPlain ? "" : TRY;
  $("withheld-try").hidden = !$("withheld-try").textContent;
  $("draw-anyway").textContent = support.terms ? "Show the map anyway" : "Show the average of all studies";
  setExports(false);
  clearStage("No map");
}

// The page of a term.
function openTerm(name) {
  writeForm({ ...readForm(), mode: "term", term: name });
  setMode();
  window.scrollTo({ top: 0 });
  run({ step: true });
}

// Show another image of the same answer.
async function showImage() {
  if (!$("withheld").hidden) return;
  if (!answered || answered !== mode()) { run(); return; }
  busy(true);
  try {
    (await prepare(answered.view()))();
    note();
  } catch (error) {
    trouble(error, showImage);
  } finally {
    busy(false);
  }
}

function clear({ empty, problem, firstTab }, isStep = false) {
  busy(false);
  nameTab("");
  answered = null;
  const wrong = problem?.();
  trouble(wrong ? { message: wrong } : null);
  tellRelated([], openTerm);
  stale(false);
  clearAnswers();
  withhold(null);
  clearStage(empty);
  openTab(firstTab ?? "regions");
  $("regions-note").textContent = `${empty}.`;
  setExports(false);
  settled = isStep || settled;
  current = !isStep; // a mode with nothing in it yet is no step of the history, and takes the place of none
  note();
}

function setExports(yes) {
  for (const button of document.querySelectorAll("#take button")) button.disabled = !yes;
}

// Put what is shown into the address. A query that has no answer yet would take the place of the
// last one there, and going back would skip it.
function note(options) {
  if (!current) return;
  record(fields(), options);
  noteAddress();
}

const rememberSoon = settle(() => {
  if (!answered) return;
  settled = true;
  remember(fields());
}, RESTING_MS);

// Put a known name in the place of a word, given by its code points.
function correct([start, end], name) {
  const field = $(chosen("mode") === "term" ? "term" : "text");
  const points = Array.from(field.value);
  points.splice(start, end - start, name);
  field.value = points.join("");
  run({ step: true });
}

// Put the text of a document into a box.
function openText(id, { text, characters }, name) {
  $(id).value = Array.from(text).slice(0, limit).join("");
  $("kind").value = "";
  if (characters) notice(`${name.replace(/\.$/, "")}: ${characters > limit ? `the first ${limit.toLocaleString("en")} of ` : ""}${characters.toLocaleString("en")} characters were read.`);
  return run({ step: true });
}

async function openDocument(id, file) {
  busy(true);
  notice(null);
  try {
    const found = await textOf(file);
    if (!found.text.trim()) throw new Error("The file holds no text. A scanned document needs text recognition first.");
    await openText(id, found, file.name);
  } catch (error) {
    trouble(error);
  } finally {
    busy(false);
  }
}

// One file becomes the text; several, or a table, become rows.
function openFiles(files) {
  if (areMany(files)) openMany(files, limits, (text, name) => openText("text", { text, characters: 0 }, name)).catch((error) => trouble(error));
  else openDocument("text", files[0]);
}

// Keep a text within the limit, and say so if something was cut.
function limited(event) {
  const points = Array.from(event.target.value);
  const cut = points.length > limit;
  if (cut) event.target.value = points.slice(0, limit).join("");
  const number = (n) => n.toLocaleString("en");
  notice(cut ? `The text was cut: the first ${number(limit)} of ${number(points.length)} characters are read.` : null);
}

// ---- wiring

const onChange = (ids, action) => ids.forEach((id) => $(id).addEventListener("change", action));

function wireQuery() {
  for (const id of ["text", "other"]) $(id).addEventListener("input", (event) => { limited(event); offerDocument($(id).value, (found) => openText(id, found, found.title || found.id)); later(); });
  $("points").addEventListener("input", later);
  onChange(["negation", "sides", "atlas"], () => run());
  wireTerm(openTerm);
  const takeMap = wireDecode(run, trouble);
  const openMap = (file) => {
    notice(null);
    writeForm({ ...readForm(), mode: "decode" });
    setMode();
    takeMap(file);
  };
  onDrop($("drop"), takeMap);
  onDrop($("stage"), openMap);
  onDrop($("text"), (...files) => (isImage(files[0].name) ? openMap(files[0]) : openFiles(files)));
  onDrop($("other"), (file) => (isImage(file.name) ? openMap(file) : openDocument("other", file)));
  $("text-files").addEventListener("change", ({ target }) => {
    if (target.files.length) openFiles([...target.files]);
    target.value = "";
  });
  const takeFiles = wireContrast({ changed: unasked, run });
  onDrop($("files-drop"), (...files) => takeFiles(files));
  $("run").addEventListener("click", runNow);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey || ["group", "against"].includes(event.target.id))) runNow();
    if (event.key === "Escape") unpin();
  });
  $("mode").addEventListener("change", () => { notice(null); keepImage(); setMode(); run({ step: true }); });
  $("swap").addEventListener("click", () => {
    [$("text").value, $("other").value] = [$("other").value, $("text").value];
    run({ step: true });
  });
  $("by-sentence").addEventListener("toggle", () => {
    if ($("by-sentence").open && answered) answered.tellSentences().catch((error) => trouble(error));
  });
}

function wireViewer() {
  hooks.onMove = (at) => {
    movedTo(at, answered?.reasons);
    noteSoon();
  };
  hooks.onView = nextView;
  hooks.onPick = () => { openTab("place"); tellIfOpen(); };
  $("image").addEventListener("change", showImage);
  $("view").addEventListener("change", () => { setView(); note(); });
  $("back").addEventListener("click", unpin);
  $("open-term").addEventListener("click", () => openTerm(nowShown().term));
  for (const id of ["hidden", "opacity", "colours", "crosshair", "inflated"]) $(id).addEventListener("input", restyle);
  $("reset").addEventListener("click", () => {
    writeForm({ ...readForm(), ...LOOKS });
    viewer.scene.turn = [0, 0];
    restyle();
  });
  $("coordinates").addEventListener("change", typed);
  $("coordinates").addEventListener("submit", (event) => { event.preventDefault(); typed(); });
}

const noteSoon = settle(() => answered && note(), 300);

function typed() {
  const point = typedPlace();
  if (point) viewer.moveTo(point);
}

function nextView() {
  const inputs = [...document.querySelectorAll("input[name=view]:not(:disabled)")];
  const next = inputs[(inputs.findIndex((input) => input.checked) + 1) % inputs.length];
  next.checked = true;
  next.dispatchEvent(new Event("change", { bubbles: true }));
}

function setView() {
  const view = chosen("view");
  $("inflating").hidden = view !== "surface";
  viewer.set({ view });
}

function restyle() {
  viewer.scene.crosshair = $("crosshair").checked;
  viewer.scene.inflated = $("inflated").checked;
  viewer.style(looks());
  drawLegend();
  noteSoon();
}

const methods = () => ask("methods", { ...reading(), ...naming(), ...drawing(), n_texts: isPair() ? 2 : 1, ...(kindRead && { kind: kindRead }) });

const COPIES = {
  link: () => linkTo(fields()),
  embed: () => embedCode(linkTo({ ...fields(), embed: "1" })),
  python: () => asPython(answered.query()),
  curl: () => asCurl(answered.kind, answered.query()),
  methods: async () => {
    const { text, bibtex } = await methods();
    return `${text}\n\n${bibtex}\n`;
  },
  caption: async () => (await methods()).caption,
};

function wireExports() {
  const copy = async (button) => toast((await copyWords(await COPIES[button.dataset.copy]())) ? "Copied" : "The browser does not allow copying here");
  $("take").addEventListener("click", ({ target }) => {
    const button = target.closest("button");
    if (!button || !answered) return;
    (button.dataset.copy ? copy(button) : download(button, answered)).catch((error) => trouble(error, () => button.click()));
  });
}

function wirePage() {
  $("theme").addEventListener("click", changeTheme);
  $("remember").addEventListener("change", () => { setRemembering($("remember").checked); if ($("remember").checked) note(); });
  $("forget").addEventListener("click", () => { rememberSoon.cancel(); forget(); }); // nor is the last query added later
  for (const link of document.querySelectorAll(".skip")) { // the address stays that of the query
    link.addEventListener("click", (event) => { event.preventDefault(); $(link.hash.slice(1)).focus(); });
  }
  noteAddress = onAddress((asked) => restore(asked));
}

function changeTheme() {
  const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  try { localStorage.setItem("theme", theme); } catch { /* storage is off */ }
}

// Each mode has its own image, so that a look at another one changes nothing.
const images = { documents: "log_ratio" };

function keepImage() {
  images[document.body.dataset.mode] = chosen("image");
  choose("image", images[chosen("mode")] ?? "log_ratio");
}

// Show what belongs to a mode; what was written for another one stays.
function setMode() {
  const name = chosen("mode");
  for (const element of document.querySelectorAll("[data-modes]")) element.hidden = !element.dataset.modes.split(" ").includes(name);
  document.body.dataset.mode = name;
  $("related").open = name === "term";
  for (const id of ["work", "kept", "contrast-note", "each-point"]) $(id).hidden = true; // until there is something to tell
  $("image").hidden = name === "decode";
  $("run").textContent = { decode: "Decode", documents: "Contrast the documents" }[name] ?? "Show the map";
  $("ratio-name").textContent = name === "documents" ? "vs reference" : "vs average";
  const image = document.querySelector("input[name=image]:checked");
  if (name !== "decode" && image.closest("label").hidden) document.querySelector("input[name=image]").checked = true;
  drawExamples(name, (id, words) => { $(id).value = words; $("kind").value = ""; notice(null); run({ step: true }); });
}

function restore(asked) {
  document.body.classList.toggle("embedded", asked.embed === "1");
  listCollection(asked.collection);
  writeForm({ ...asked, ...(!asked.text && !asked.mode ? { text: Object.values(EXAMPLES)[0] } : {}) });
  resumeContrast(asked.job ?? null);
  setMode();
  viewer.scene.crosshair = $("crosshair").checked;
  viewer.scene.inflated = $("inflated").checked;
  setView();
  viewer.style(looks());
  return run({ at: asked.at });
}

async function begin() {
  wireQuery();
  wireViewer();
  wireExports();
  wirePage();
  wireTabs();
  for (const name of ["click", "focusin"]) $("tabs").addEventListener(name, tellIfOpen); // a tab that is opened now
  wireMenus();
  wireMany();
  wireHelp();
  drawRecent();
  const about = get("model").catch(() => null);
  const shown = restore(addressed());
  beginStage(shown).catch(() => trouble({ message: "The template of the brain could not be loaded." }, () => location.reload()));
  await shown;
  tellAbout(await about);
}

function tellAbout(about) {
  if (!about) return;
  limits = about.limits;
  limit = limits.max_text;
  tellModel(about);
  tellCollections(about);
  offerFrom(about.collections);
  $("embed-code").hidden = !about.embed;
  $("about").textContent = `Learned from ${about.studies.toLocaleString("en")} studies and ${about.terms.toLocaleString("en")} terms · neurowhere ${about.version}`;
}

begin();
