"""
Annotate a NiMARE studyset from text
====================================

NiMARE selects studies by annotations: a table of numbers for each analysis of a studyset. This
example computes an annotation from the abstracts. A study that denies a structure gets no weight
for it. Input and output are JSON files in NIMADS, the format of NiMARE and Neurosynth Compose;
NiMARE itself is not needed.
"""

import json
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from neurowhere import load_model, read_corpus

# %%
# A studyset
# ----------
# Twelve made-up studies, as a file that NiMARE could have written.

corpus = read_corpus("studies.jsonl")
studyset = {
    "id": "example",
    "name": "example",
    "studies": [
        {
            "id": document.id,
            "name": document.metadata["title"],
            "description": document.sections["abstract"],
            "analyses": [
                {
                    "id": f"{document.id}-1",
                    "name": "main",
                    "points": [
                        {"coordinates": xyz, "space": "MNI"} for xyz in document.peaks.tolist()
                    ],
                }
            ],
        }
        for document in corpus.iter_documents()
    ],
}

# %%
# Terms of each study
# -------------------
# ``encode`` reads a text. The ``terms`` of the result are those that the text affirms, with their
# weights.

model = load_model()


def weigh_terms(study):
    """Return the weight of each term that a study affirms."""
    terms = model.encode(f"{study['name']}. {study['description']}").terms
    return dict(zip(terms["term"], terms["weight"].round(4).tolist(), strict=True))


notes = {
    analysis["id"]: weigh_terms(study)
    for study in studyset["studies"]
    for analysis in study["analyses"]
}
table = pd.DataFrame.from_dict(notes, orient="index").fillna(0.0)
table = table[table.astype(bool).sum().sort_values(ascending=False, kind="stable").index]
table.iloc[:4, :6]

# %%
# In NIMADS, an annotation has a note for each analysis, and the type of each key. A studyset stores
# it under ``annotations``.

studyset["annotations"] = [
    {
        "id": "neurowhere",
        "name": "terms that the abstract affirms, by neurowhere",
        "note_keys": dict.fromkeys(table.columns, "number"),
        "notes": [{"analysis": name, "note": row.to_dict()} for name, row in table.iterrows()],
    }
]
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "studyset.json"
    path.write_text(json.dumps(studyset), encoding="utf-8")
    print(f"{path.stat().st_size / 1000:.0f} kB; read again: {read_corpus(path)}")

# %%
# In NiMARE, ``nimare.nimads.Studyset("studyset.json")`` reads the file. To select the studies of a
# term, take those with a positive value for it.

figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
common = table.iloc[:, :12]
image = axes.imshow(common, cmap="YlOrRd", vmin=0, aspect="auto")
axes.set_xticks(range(common.shape[1]), common.columns, rotation=40, ha="right")
axes.set_yticks(range(len(common)), common.index)
axes.set_xlabel("term")
axes.set_ylabel("analysis")
figure.colorbar(image, label="weight of the term")

plt.show()
