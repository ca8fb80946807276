// One text: its map, and what was read in it.

import { ask } from "./api.js";
import { pointing, sentenceRow, tellPeaks, tellRegions, tellRules, tellStudies, tellSupport, tellTerms, tellUnknown } from "./answers.js";
import { $, chosen, fill, percent } from "./dom.js";
import { naming, reading, text } from "./form.js";
import { marked } from "./reading.js";
import { roving } from "./roving.js";

const N_REGIONS = 18;
const NAMES = { density: "density", log_ratio: "ratio to the average study", mass: "regions that hold 50, 80 and 95 %" };

export const image = () => (chosen("image") === "difference" ? "density" : chosen("image"));

// A mode that maps one text; `words` gives the text, `title` names it.
export function textMode(words, title) {
  const query = () => ({ text: words(), ...reading() });
  let isAverage = false; // a text that says nothing gets the average map, whose caption says so
  return {
    tabs: { regions: "Regions", peaks: "Peaks", place: "This place", studies: "Studies" },
    kind: "encode",
    query,
    mapQuery: () => ({ ...query(), image: image() }),
    isReady: () => Boolean(words().trim()),
    ask: (signal) => ask("encode", { ...query(), ...naming(), regions: N_REGIONS, sort: $("sort").value }, signal),
    view() {
      const [asked, shown] = [title(), image()];
      return {
        get words() { return `${isAverage ? "The average of all studies" : asked}: ${NAMES[shown]}`; },
        parts: [["encode", { ...query(), image: shown }]],
        image: shown,
      };
    },
    texts: () => [["In this text", words()]],
    rowsOf: (answer) => answer.regions,
    title: () => words().trim().replace(/\s+/g, " "),
    empty: "No map yet: write a text",

    tell(answer, correct) {
      isAverage = !answer.support.terms;
      tellSupport(answer);
      fill($("reading"), ...marked(words(), answer, pointing));
      roving($("reading"), "mark[role=button]");
      tellRules(answer.rules);
      tellUnknown(answer.unknown, answer.support.unknown, correct);
      tellTerms(answer.terms);
      tellRegions(answer.regions);
      tellPeaks(answer.peaks);
      tellStudies($("similar"), answer.similar, answer.terms);
      $("similar-note").textContent = "training studies with the closest texts";
    },

    first: ({ peaks, regions }) => peaks[0]?.at ?? regions[0]?.at,
    spoken: ({ regions: [first], support }) => support.withheld
      ? `No map is shown: ${support.withheld}.`
      : `Map ready. ${support.level === "good" ? "" : `Support: ${support.level}. `}${first ? `Strongest: ${first.name}, ${percent(first.probability)}.` : ""}`,

    async tellSentences() {
      const points = Array.from(words());
      const { sentences } = await ask("encode", { ...query(), regions: 0, sentences: true });
      fill($("sentences"), ...sentences.map((sentence) => sentenceRow(points.slice(...sentence.where).join(""), sentence, image())));
      roving($("sentences"), ".sentence");
    },
  };
}

export const oneText = textMode(text, () => "Your text");
