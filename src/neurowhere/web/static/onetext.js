// One text: its map, and what was read in it.

import { answerOf, pointing, sentenceRow, tellAnswer, tellContradictions, tellFindings, tellKind, tellPeaks, tellRegions, tellRules, tellStudies, tellSupport, tellTerms, tellUnknown } from "./answers.js";
import { $, chosen, fill, percent } from "./dom.js";
import { naming, reading, text } from "./form.js";
import { askForm, encodeWithMap, firstPlace } from "./maps.js";
import { marked, tellKey } from "./reading.js";
import { roving } from "./roving.js";

const N_REGIONS = 18;
const NAMES = { density: "density", log_ratio: "compared with the average study", mass: "regions that hold 50, 80 and 95 %" };
const AVERAGE = "The average of all studies, not of your text: density";

export const image = () => (chosen("image") === "difference" ? "log_ratio" : chosen("image"));

// A mode that maps one text; `words` gives the text, `title` names it.
export function textMode(words, title) {
  const query = () => ({ text: words(), ...reading() });
  let place = null; // that is shown first
  let why = {}; // terms that raise or lower a region, by its label
  let isAverage = false; // a text that says nothing gets the average map, whose caption says so
  return {
    tabs: { regions: "Regions", peaks: "Peaks", place: "This place", studies: "Studies" },
    kind: "encode",
    answersFirst: true, // its map comes with it
    query,
    mapQuery: () => ({ ...query(), image: isAverage ? "density" : image() }),
    isReady: () => Boolean(words().trim()),
    async ask(signal) {
      const asked = query();
      const answer = await encodeWithMap({ ...asked, ...naming(), regions: N_REGIONS, explain: true }, asked, signal);
      ({ why } = answer);
      isAverage = !answer.support.terms;
      place = isAverage ? null : await firstPlace(asked, answer.regions);
      return answer;
    },
    view() {
      if (isAverage) return { words: AVERAGE, parts: [["encode", { ...query(), image: "density" }]], image: "density", colours: "grey" };
      const shown = image();
      return { words: `${title()}: ${NAMES[shown]}`, parts: [["encode", { ...query(), image: shown }]], image: shown };
    },
    reasons: (region) => [["In this text", why[region] ?? []]],
    rowsOf: (answer) => answer.regions,
    title: () => words().trim().replace(/\s+/g, " "),
    empty: "No map yet: write a text",

    tell(answer, correct, again, onSort) {
      tellAnswer(...answerOf(answer));
      tellSupport(answer);
      tellKind(answer, again);
      fill($("reading"), ...marked(words(), answer, pointing));
      roving($("reading"), "mark[role=button]");
      tellKey();
      tellContradictions(answer.contradictions);
      tellFindings(answer.findings, answer.kind);
      tellRules(answer.rules);
      tellUnknown($("unknown"), answer.unknown, answer.support.unknown, correct);
      tellTerms(answer.terms);
      tellRegions(answer, N_REGIONS, onSort, isAverage);
      tellPeaks(answer.peaks);
      tellStudies($("similar"), answer.similar, answer.terms);
      $("similar-note").textContent = "training studies with the closest texts, by similarity (cosine, at most 1)";
    },

    first: ({ peaks, regions }) => place ?? peaks[0]?.at ?? regions[0]?.at,
    spoken: ({ regions: [first], support }) => support.withheld
      ? `No map is shown: ${support.withheld}.`
      : `Map ready. ${support.level === "good" ? "" : `Support: ${support.level}. `}${first ? `Strongest: ${first.name}, ${percent(first.probability)}.` : ""}`,

    async tellSentences() {
      const points = Array.from(words());
      const { answer: { sentences } } = await askForm({ ...query(), sentences: true }); // and nothing of the whole
      fill($("sentences"), ...sentences.map((sentence) => sentenceRow(points.slice(...sentence.where).join(""), sentence, image())));
      roving($("sentences"), ".sentence");
    },
  };
}

export const oneText = textMode(text, () => "Your text");
