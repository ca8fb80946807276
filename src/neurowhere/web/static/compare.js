// Compare: two texts side by side, and where they differ.

import { ask } from "./api.js";
import { pointing, tellAnswer, tellContradictions, tellFindings, tellLanguage, tellRules, tellTerms, tellUnknown } from "./answers.js";
import { $, capital, chosen, fill, make, percent } from "./dom.js";
import { naming, other, reading, text } from "./form.js";
import { marked, tellKey } from "./reading.js";
import { roving } from "./roving.js";
import { goTo } from "./stage.js";
import { fillTable, placeButton } from "./tables.js";

const N_REGIONS = 18;
const NAMES = { density: "density of both texts", log_ratio: "both texts, each against the average study" };
const LEVELS = ["none", "weak", "good"];

const image = () => (chosen("image") === "mass" ? "difference" : chosen("image"));
const LONGEST = 60; // characters of the name of a row
const short = (words) => (words.trim().length > LONGEST ? `${words.trim().slice(0, LONGEST)}…` : words.trim()).replace(/\s+/g, " ");
const query = () => ({ text: text(), other: other(), ...reading() });

function view() {
  if (image() === "difference") {
    return { words: "Difference: warm is more in the first text, cold is more in the second", parts: [["difference", query()]], image: "log_ratio", what: "difference" };
  }
  const parts = [text(), other()].map((words) => ["encode", { text: words, ...reading(), image: image() }]);
  return { words: `First and second: ${NAMES[image()]}`, parts, image: image(), labels: [`First: ${short(text())}`, `Second: ${short(other())}`] };
}

function tellDistance({ distance, text: first, other: second }) {
  const weakest = LEVELS.find((level) => [first, second].some(({ support }) => support.level === level));
  $("support").textContent = `${percent(distance)} apart`;
  $("support").dataset.level = weakest;
  $("support").title = [first, second].map(({ support }) => support.summary).join("; ");
  $("support-words").textContent = `The two maps differ in ${percent(distance)} of their mass.${weakest === "good" ? "" : ` Support of the ${first.support.level === weakest ? "first" : "second"} text: ${weakest}.`}`;
  tellLanguage(first.support.foreign || second.support.foreign);
}

const namesOf = (regions) => regions.slice(0, 3).map(({ name }) => name).join(", ") || "nothing";

// Where each text has more; of a text without a place, that it has none.
function answerOf({ text: first, other: second, more, less }) {
  const silent = [["first", first], ["second", second]].filter(([, { support }]) => support.withheld);
  if (silent.length) return silent.map(([which, { support }]) => line(`No map for the ${which} text: `, `${support.withheld}. ${support.terms ? "" : "It counts as the average of all studies."}`));
  return [line("More in the first: ", namesOf(more)), line("More in the second: ", namesOf(less))];
}

const line = (title, words) => make("span", { class: "line" }, make("strong", {}, title), words);

const row = ({ name, at, region, probability, other: share }) => [
  placeButton(capital(name), at, goTo, { region }), percent(probability), percent(share),
];

let why = {}; // terms that raise or lower a region in the difference, by its label

export const twoTexts = {
  tabs: { regions: "More in the first", peaks: "More in the second", place: "This place", studies: null },
  kind: "difference",
  query,
  mapQuery: query,
  isReady: () => Boolean(text().trim() && other().trim()),
  ask: (signal) => ask("difference", { ...query(), ...naming(), regions: N_REGIONS, explain: true }, signal),
  view,
  reasons: (region) => [["The first, beyond the second", why[region] ?? []]],
  title: () => [text(), other()].map((words) => words.trim().replace(/\s+/g, " ")).join("  /  "),
  empty: "No map yet: write two texts",
  rowsOf: ({ more, less }) => [...more, ...less.toReversed()],

  tell(answer) {
    why = Object.fromEntries(answer.difference.regions.map((row) => [row.region, row.why.map(({ term, contribution }) => [term, contribution])]));
    tellDistance(answer);
    tellAnswer(...answerOf(answer));
    fill($("reading"),
      make("p", {}, ...marked(text(), answer.text, pointing)),
      make("p", { class: "versus" }, "compared with"),
      make("p", {}, ...marked(other(), answer.other, pointing)));
    roving($("reading"), "mark[role=button]");
    tellRules([...answer.text.rules, ...answer.other.rules]);
    tellUnknown($("unknown"), [], 0);
    tellFindings([]);
    tellContradictions([]);
    tellKey();
    tellTerms(answer.difference.terms);
    $("regions-note").textContent = $("peaks-note").textContent = "share of each map, where they differ most";
    fillTable($("regions"), ["Region", "First", "Second"], answer.more.map(row));
    fillTable($("peaks"), ["Region", "First", "Second"], answer.less.map(row));
    fill($("similar"));
  },

  first: ({ more }) => more[0]?.at,
  spoken: ({ distance, more: [first] }) => `Map ready. The maps differ in ${percent(distance)}.${first ? ` Most for the first: ${first.name}.` : ""}`,
  tellSentences: async () => fill($("sentences")),
};
