// Examples: texts to begin with.

import { $, fill, make } from "./dom.js";

export const EXAMPLES = {
  "Stroke report": "Acute left MCA infarct involving the insula and the inferior frontal gyrus, with non-fluent aphasia. No lesion in the thalamus or the hippocampus. Weakness of the right hand.",
  "Fear": "Conditioned fear activated the amygdala, the anterior insula and the dorsal anterior cingulate cortex.",
  "Reading": "Reading words compared with symbols recruited the left fusiform gyrus, the visual word form area.",
  "Parkinson’s": "Parkinson's disease patients off medication showed reduced activity in the putamen and the supplementary motor area.",
  "Working memory": "An n-back working memory task engaged the dorsolateral prefrontal and parietal cortex.",
};
const SECONDS = ["speech perception", "episodic memory", "pain", "face perception"];

const chip = (name, action) => make("button", { type: "button", class: "chip", onclick: action }, name);

// Buttons that fill in a text; in a comparison only the second one, so that the first stays.
export function drawExamples(mode, write) {
  const chips = mode === "two"
    ? SECONDS.map((words) => chip(words, () => write("other", words)))
    : Object.entries(EXAMPLES).map(([name, text]) => chip(name, () => write("text", text)));
  fill($("examples"), ...(mode === "one" || mode === "two" ? chips : []));
}
