"""Case studies: which formula makes the peaks of studies of lesions and of single cases likelier.

    python benchmarks/case_studies.py

Abstracts of `rawtext_linked_dev` that speak of a lesion or of a case, each drawn as a report and as
a study: nats above the mean map of their peaks, and where the gate sends them.
"""

import re
import warnings

import numpy as np

from neurowhere import load_model, read_corpus
from neurowhere.exceptions import DataWarning
from neurowhere.text.kinds import report_gate
from setting import DATA, print_table
from sides import score

SUBJECTS = {
    "case": re.compile(r"\bcase (?:report|study|of)\b|\b(?:a|one|single) (?:case|patient)\b", re.I),
    "lesion": re.compile(r"\b(?:lesions?|infarct\w*|stroke|tumou?rs?|resection|haem|hem)", re.I),
    "neither": re.compile(r""),
}
LONGEST = 5000  # characters of an abstract
N_OTHERS = 300


def main():
    warnings.simplefilter("ignore", DataWarning)
    model = load_model()
    corpus = read_corpus(DATA / "corpus" / "rawtext_linked_dev.jsonl.gz")
    taken, rows = set(), []
    for name, words in SUBJECTS.items():
        kept = [
            row
            for row, text in enumerate(corpus.texts)
            if row not in taken and text and len(text) < LONGEST and words.search(text)
        ][: N_OTHERS if name == "neither" else None]
        taken |= set(kept)
        some = corpus.select(np.array(kept))
        maps = {
            kind: np.stack([e.probabilities for e in model.encode_many(some.texts, kind=kind)])
            for kind in ("study", "report")
        }
        nats = {kind: score(model, some, q) for kind, q in maps.items()}
        has_peaks = np.isfinite(nats["study"])
        gates = np.array([report_gate(text) for text in some.texts])
        difference = (nats["report"] - nats["study"])[has_peaks]
        rows.append(
            [
                name,
                int(has_peaks.sum()),
                *(f"{nats[kind][has_peaks].mean():.3f}" for kind in nats),
                f"{difference.mean():+.3f} ± {difference.std() / np.sqrt(len(difference)):.3f}",
                f"{(difference > 0).mean():.0%}",
                f"{(gates > 0.5).mean():.0%}",
            ]
        )
    header = ["abstracts", "n", "as a study", "as a report", "difference", "likelier as a report"]
    print_table([*header, "sent to reports"], rows)


if __name__ == "__main__":
    main()
