// Status: signs of life, of trouble and of success.

import { $, fill, make, settle } from "./dom.js";

export function busy(yes) {
  $("stage").setAttribute("aria-busy", String(yes));
}

// Tell what went wrong, with a button that tries again.
export function trouble(error, retry) {
  $("problem").hidden = !error;
  if (!error) return;
  const again = retry && make("button", { type: "button", class: "link", id: "again", onclick: retry }, "Try again");
  fill($("problem"), make("strong", {}, error.message), " ", error.hint ?? "", " ", again ?? "");
}

// Whether what is shown belongs to another text than the one that is written.
export function stale(yes) {
  document.body.classList.toggle("stale", yes);
}

export function say(words) {
  $("said").textContent = words;
}

export function notice(words, ...more) {
  $("notice").hidden = !words;
  fill($("notice"), words ?? "", ...more);
}

// Tell how far long work is; without a share of it, only that it goes on.
export function working(words, share = null) {
  $("work").hidden = !words;
  $("work-words").textContent = words ?? "";
  if (share === null) $("work-bar").removeAttribute("value");
  else $("work-bar").value = share;
}

const hideToast = settle(() => { $("toast").hidden = true; }, 1600);

export function toast(words) {
  $("toast").textContent = words;
  $("toast").hidden = false;
  hideToast();
}
