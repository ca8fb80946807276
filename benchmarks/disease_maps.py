"""The paper's disease maps: eight terms and two controls on all documents at hand, with any model.

    python benchmarks/disease_maps.py -o OUTPUT [--model FOLDER] [--name shipped] [--cache FOLDER]
                                      [--images docs/images] [--without-term] [--against-patients]

Documents: the unlabelled ones, the linked texts, and NeuroQuery's titles, abstracts and keywords as
counts (12,100 studies, imported once into OUTPUT). Prints where each disease should be raised and
whether it is: ratios of mean probability with bootstrap intervals, against all documents or against
those that speak of other patients. With --images, also writes a folder for each term, as
`neurowhere contrast` does. The atlases are those of the development data.
"""

import argparse
import shutil
import time
import warnings
from pathlib import Path

import numpy as np

from neurowhere import Atlas, contrast_documents, load_model, read_corpus
from setting import DATA, print_table

TERMS = {
    "huntington": "huntington",
    "parkinson": "parkinson*",
    "aphasia": "aphasi*",
    "alzheimer": "alzheimer",
    "epilepsy": "epilep*",
    "depression": "depressive disorder OR major depression",
    "ptsd": "posttraumatic stress disorder OR post traumatic stress disorder OR PTSD",
    "schizophrenia": "schizophren*",
    # Controls, which no part of the brain is known for: what kind of article says so does matter.
    "consent": "informed consent",
    "mice": "mouse",
}
# Atlas, beginnings of labels, and side (−1 left, 1 right, 0 both) of the places to look at.
PLACES = {
    "caudate": ("aal3", ["Caudate_"], 0),
    "putamen": ("aal3", ["Putamen_"], 0),
    "pallidum": ("aal3", ["Pallidum_"], 0),
    "thalamus": ("aal3", ["Thal_"], 0),
    "substantia nigra": ("aal3", ["SN_"], 0),
    "brain stem": ("ho_subcortical_thr25", ["Brain-Stem"], 0),
    "precentral gyrus (motor)": ("aal3", ["Precentral_"], 0),
    "left inferior frontal": ("aal3", ["Frontal_Inf_Oper_L", "Frontal_Inf_Tri_L"], 0),
    "right inferior frontal": ("aal3", ["Frontal_Inf_Oper_R", "Frontal_Inf_Tri_R"], 0),
    "left posterior temporal": (
        "ho_cortical_thr25",
        ["Superior_Temporal_Gyrus_post", "Middle_Temporal_Gyrus_post"],
        -1,
    ),
    "right posterior temporal": (
        "ho_cortical_thr25",
        ["Superior_Temporal_Gyrus_post", "Middle_Temporal_Gyrus_post"],
        1,
    ),
    "hippocampus": ("aal3", ["Hippocampus_"], 0),
    "parahippocampal gyrus": ("aal3", ["ParaHippocampal_"], 0),
    "amygdala": ("aal3", ["Amygdala_"], 0),
    "anterior cingulate": ("aal3", ["ACC_"], 0),
    "superior temporal": ("aal3", ["Temporal_Sup_", "Heschl_"], 0),
}
PATIENTS = "(patient OR disease OR disorder)"
COMMON = [
    "caudate",
    "putamen",
    "substantia nigra",
    "thalamus",
    "precentral gyrus (motor)",
    "left inferior frontal",
    "left posterior temporal",
    "hippocampus",
    "amygdala",
]
EXPECTED = {
    "huntington": ["caudate", "putamen"],
    "parkinson": [
        "brain stem",
        "substantia nigra",
        "thalamus",
        "caudate",
        "putamen",
        "pallidum",
        "precentral gyrus (motor)",
    ],
    "aphasia": [
        "left inferior frontal",
        "left posterior temporal",
        "right inferior frontal",
        "right posterior temporal",
    ],
    "alzheimer": ["hippocampus", "parahippocampal gyrus"],
    "epilepsy": ["hippocampus", "thalamus"],
    "depression": ["anterior cingulate", "amygdala"],
    "ptsd": ["amygdala", "hippocampus"],
    "schizophrenia": ["superior temporal", "anterior cingulate", "thalamus"],
    "consent": COMMON,
    "mice": COMMON,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder to write")
    parser.add_argument("--model", help="folder of a model; by default the shipped one")
    parser.add_argument("--name", default="shipped", help="of the model, in names of files")
    parser.add_argument("--cache", type=Path, help="folder of encoded documents")
    parser.add_argument("--images", type=Path, help="folder to copy the pictures to")
    parser.add_argument("--without-term", action="store_true", help="leave the term itself out")
    parser.add_argument("--against-patients", action="store_true", help="not against all")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    model = load_model(arguments.model)
    sources = find_sources(arguments.output)
    cache = arguments.cache or arguments.output / "cache"
    aal3 = read_atlas("aal3")
    places = {name: place_atlas(*where) for name, where in PLACES.items()}
    rows, about = [], []
    for name, query in TERMS.items():
        start = time.perf_counter()
        result = contrast_documents(
            sources,
            query,
            against=f"{PATIENTS} AND NOT ({query})" if arguments.against_patients else None,
            model=model,
            cache=cache,
            without_term=arguments.without_term,
        )
        seconds = time.perf_counter() - start
        if arguments.images:
            folder = arguments.output / f"{arguments.name}-{name}"
            result.save(folder, atlas=aal3, overwrite=True)
            picture = arguments.images / f"contrast-{arguments.name}-{name}.png"
            shutil.copy(folder / "map.png", picture)
        for place in EXPECTED[name]:
            ratio, low, high = result.regions(places[place]).loc[0, ["ratio", "low", "high"]]
            verdict = "raised" if low > 1 else "lowered" if high < 1 else "not told"
            rows.append([name, place, f"{ratio:.2f}", f"{low:.2f} to {high:.2f}", verdict])
        top = result.regions(aal3).head(5)["region"]
        raised = int((result.significant() & (result.log_ratio > 0)).sum())
        about.append(
            [
                name,
                f"`{query}`",
                result.about["documents_in_group"],
                ", ".join(top),
                ", ".join(result.terms["term"].head(6)),
                f"{raised:,}",
                f"{seconds:.1f}",
            ]
        )
    n = result.about["documents_with_known_terms"]
    print(f"{n:,} documents of {result.about['documents']:,} have a term that the model knows\n")
    header = ["term", "query", "documents", "most raised (AAL3)", "terms", "voxels raised", "s"]
    print_table(header, about)
    print()
    print_table(["term", "place", "ratio", "95 % interval", ""], rows)


def find_sources(output):
    corpus = output / "neuroquery_dev"
    if not corpus.exists():
        read_corpus(DATA / "corpus", format="neuroquery").save(corpus)
    return [DATA / "unlabelled", DATA / "corpus" / "rawtext_linked_dev.jsonl.gz", corpus]


def read_atlas(name):
    folder = DATA / "atlases"
    return Atlas(folder / f"{name}.nii.gz", folder / f"{name}_labels.csv")


def place_atlas(name, beginnings, side):
    """Atlas of one region: the labels that begin so, on one side or both."""
    atlas = read_atlas(name)
    chosen = [k for k, label in enumerate(atlas.names) if label.startswith(tuple(beginnings))]
    inside = np.isin(atlas.regions, chosen)
    voxels = np.argwhere(inside)
    x_mm = voxels @ atlas.affine[0, :3] + atlas.affine[0, 3]
    if side:
        inside[tuple(voxels[np.sign(x_mm) != side].T)] = False
    return Atlas((inside.astype(np.int16), atlas.affine))


if __name__ == "__main__":
    main()
