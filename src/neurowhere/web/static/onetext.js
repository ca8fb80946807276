// One text: its map, and what was read in it.

import { ask } from "./api.js";
import { sentenceRow, tellPeaks, tellRegions, tellRules, tellStudies, tellSupport, tellTerms, tellUnknown } from "./answers.js";
import { $, chosen, fill, percent } from "./dom.js";
import { reading, text } from "./form.js";
import { marked } from "./reading.js";
import { roving } from "./roving.js";
import { pointing } from "./answers.js";

const N_REGIONS = 18;
const NAMES = { density: "density", log_ratio: "ratio to the average study", mass: "regions that hold 50, 80 and 95 %" };

const image = () => (chosen("image") === "difference" ? "density" : chosen("image"));
const query = () => ({ text: text(), ...reading() });

export const oneText = {
  tabs: { regions: "Regions", peaks: "Peaks", place: "This place", studies: "Studies" },
  kind: "encode",
  query,
  mapQuery: () => ({ ...query(), image: image() }),
  isReady: () => Boolean(text().trim()),
  ask: (signal) => ask("encode", { ...query(), regions: N_REGIONS, sort: $("sort").value }, signal),
  view: () => ({ words: `Your text: ${NAMES[image()]}`, parts: [["encode", { ...query(), image: image() }]], image: image() }),
  texts: () => [["In this text", text()]],
  rowsOf: (answer) => answer.regions,

  tell(answer, correct) {
    tellSupport(answer.support);
    fill($("reading"), ...marked(text(), answer, pointing));
    roving($("reading"), "mark[role=button]");
    tellRules(answer.rules);
    tellUnknown(answer.unknown, answer.support.unknown, correct);
    tellTerms(answer.terms);
    tellRegions(answer.regions);
    tellPeaks(answer.peaks);
    tellStudies($("similar"), answer.similar, answer.terms);
  },

  first: ({ peaks, regions }) => peaks[0]?.at ?? regions[0]?.at,
  spoken: ({ regions: [first], support }) => `Map ready. ${support.level === "good" ? "" : `Support: ${support.level}. `}${first ? `Strongest: ${first.name}, ${percent(first.probability)}.` : ""}`,

  async tellSentences() {
    const points = Array.from(text());
    const { sentences } = await ask("encode", { ...query(), regions: 0, sentences: true });
    fill($("sentences"), ...sentences.map((sentence) => sentenceRow(points.slice(...sentence.where).join(""), sentence, image())));
    roving($("sentences"), ".sentence");
  },
};
