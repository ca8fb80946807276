// Tabs: one of several panels is shown.

import { $ } from "./dom.js";
import { roving } from "./roving.js";

const tabs = () => [...$("tabs").querySelectorAll("[role=tab]")];

export function openTab(name) {
  for (const tab of tabs()) {
    const isOpen = tab.id === `tab-${name}`;
    tab.setAttribute("aria-selected", String(isOpen));
    tab.tabIndex = isOpen ? 0 : -1;
    $(tab.getAttribute("aria-controls")).hidden = !isOpen;
  }
}

export function wireTabs() {
  roving($("tabs"), "[role=tab]:not([hidden])");
  $("tabs").addEventListener("click", ({ target }) => { if (target.role === "tab") openTab(target.id.slice(4)); });
  $("tabs").addEventListener("focusin", ({ target }) => { if (target.matches(":focus-visible")) openTab(target.id.slice(4)); });
}

export function nameTabs(names) {
  for (const [name, words] of Object.entries(names)) {
    $(`tab-${name}`).textContent = words ?? "";
    $(`tab-${name}`).hidden = !words;
    $(`panel-${name}`).dataset.name = words ?? ""; // its title on paper
  }
  const open = tabs().find((tab) => tab.getAttribute("aria-selected") === "true");
  openTab(open.hidden ? "regions" : open.id.slice(4));
}
