// Address: the query as a link, back and forward, and the last queries in this browser.

import { $, fill, make } from "./dom.js";
import { drafts, fromHash, toHash } from "./form.js";

const KEY = "recent";
const OFF = "forgetful";
const MOST = 12;
const LONGEST = 70; // characters of a label

// Storage may be switched off: then nothing is kept.
function read(key) {
  try { return JSON.parse(localStorage.getItem(key)); } catch { return null; }
}

function write(key, value) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(value));
  } catch { /* private browsing, or full */ }
}

export const remembers = () => !read(OFF);

export function setRemembering(yes) {
  write(OFF, yes ? null : true);
  if (yes) return;
  forget();
  nameTab("");
  history.replaceState(null, "", location.pathname);
}

export function forget() {
  write(KEY, null);
  drawRecent();
}

// Put a query into the address: as a new step of the history, or in place of the last one. What is
// written for other modes is kept beside it, in this browser alone.
export function record(fields, { step = false } = {}) {
  if (!remembers()) return;
  const hash = toHash(fields);
  if (hash === location.hash) return;
  if (step) history.pushState(drafts(fields), "", hash);
  else history.replaceState(drafts(fields), "", hash);
}

// The title of the tab names the query, unless nothing may be kept: browsers keep titles in their history.
export function nameTab(words) {
  const short = words.length > LONGEST ? `${words.slice(0, LONGEST).trimEnd()}…` : words;
  document.title = short && remembers() ? `${short} – neurowhere` : "neurowhere";
}

// Read the query in the address, and what is kept beside it.
export const addressed = () => (location.hash.includes("=") ? { ...history.state, ...fromHash(location.hash) } : {});

// Add a query to the list of the last ones; what continues the last one replaces it.
export function remember(fields) {
  const label = labelOf(fields);
  if (!remembers() || !label) return;
  const hash = toHash(fields);
  const continues = ({ label: old }) => label.startsWith(old) || old.startsWith(label);
  const [last, ...rest] = read(KEY) ?? [];
  const others = [...(last && !continues(last) ? [last] : []), ...rest].filter((each) => each.label !== label);
  write(KEY, [{ hash, label }, ...others].slice(0, MOST));
  drawRecent();
}

function labelOf({ mode, text, other, term, points, group, against }) {
  if (mode === "documents") return group ? `Documents: ${group}${against ? ` / ${against}` : ""}` : "";
  if (mode === "term") return term ? `Term: ${term}` : "";
  if (mode === "decode") return points ? `Decode: ${points}` : "";
  return mode === "two" && other ? `${text} / ${other}` : text.trim();
}

export function drawRecent() {
  const items = (read(KEY) ?? []).map(({ hash, label }) =>
    make("li", {}, make("a", { href: hash, title: label.slice(0, 400) }, label.length > LONGEST ? `${label.slice(0, LONGEST)}…` : label)));
  fill($("recent-list"), ...(items.length ? items : [make("li", { class: "soft" }, "None yet")]));
  $("remember").checked = remembers();
}

// Call back when the address has changed by hand, by a link, or by going back and forward.
export function onAddress(restore) {
  let seen = location.hash;
  const check = () => {
    if (location.hash === seen) return;
    seen = location.hash;
    if (location.hash.includes("=")) restore(addressed());
  };
  window.addEventListener("popstate", check);
  window.addEventListener("hashchange", check);
  return () => { seen = location.hash; };
}

export const linkTo = (fields) => `${location.origin}${location.pathname}${toHash(fields)}`;
