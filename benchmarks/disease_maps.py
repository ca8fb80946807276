"""The paper's disease maps: eight terms and two controls on all documents at hand, with two models.

    python benchmarks/disease_maps.py -o OUTPUT [--l1 FOLDER] [--images docs/images]

Documents: the unlabelled ones, the linked texts, and NeuroQuery's titles, abstracts and keywords as
counts (12,100 studies, imported once into OUTPUT). Models: the paper's, ℓ1 on names of the brain's
parts, in FOLDER if there is one; and the shipped one, which is also asked without the term itself,
with controls of the same kind, and against documents that speak of other patients. Prints where
each disease should be raised and whether it is: ratios of mean probability with intervals; and
which share of the brain passes the threshold, with an effect of any size and of at least 1.25
times. With --images, also draws maps and ratios. The atlases are those of the development data.
"""

import argparse
import io
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from neurowhere import Atlas, contrast_documents, load_model, read_corpus
from neurowhere.report.comparison import GRID_COLOUR
from neurowhere.report.maps import SIGNED_COLOURS, smooth, write_png
from setting import DATA, print_table

PAPER = ("huntington", "parkinson", "aphasia")
NOT_DRAWN = ("autism", "consent", "mice")
TERMS = {
    "huntington": "huntington",
    "parkinson": "parkinson*",
    "aphasia": "aphasi*",
    "alzheimer": "alzheimer",
    "epilepsy": "epilep*",
    "depression": "depressive disorder OR major depression",
    "ptsd": "posttraumatic stress disorder OR post traumatic stress disorder OR PTSD",
    "schizophrenia": "schizophren*",
    "autism": "autis*",
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
    "autism": ["amygdala", "superior temporal"],
    "consent": COMMON,
    "mice": COMMON,
}
# Where the maps are cut, in mm.
CUTS = {
    "huntington": (-12, 10, 6),
    "parkinson": (-10, -18, -10),
    "aphasia": (-52, 14, 4),
    "alzheimer": (-26, -20, -14),
    "epilepsy": (-26, -20, -14),
    "depression": (-3, 30, -6),
    "ptsd": (-22, -4, -18),
    "schizophrenia": (-8, -16, 8),
}
STRONGEST, FAINTEST = 1.5, 0.15  # log ratios: end of the colours, and none below
DPI, N_COLOURS = 90, 256  # of the pictures
VARIANTS = {  # model, and what is asked of it
    "ℓ1": ("ℓ1", {}),
    "shipped": ("shipped", {}),
    "shipped, without the term": ("shipped", {"without_term": True}),
    "shipped, matched": ("shipped", {"matched": True}),
    "shipped, against other patients": ("shipped", {"against": "{patients} AND NOT ({query})"}),
}
DRAWN = {"ℓ1": "#0072B2", "shipped": "#E69F00", "shipped, without the term": "#009E73"}
EFFECT = 1.25  # ratio
VERDICTS = {1: "raised", 0: "not told", -1: "lowered"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder to write")
    parser.add_argument("--l1", type=Path, help="folder of the paper's model")
    parser.add_argument("--variants", nargs="*", default=list(VARIANTS), help="some of the table")
    parser.add_argument("--terms", nargs="*", default=list(TERMS), help="some of the table")
    parser.add_argument("--images", type=Path, help="folder of the pictures")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    models = {"shipped": load_model()}
    if arguments.l1:
        models["ℓ1"] = load_model(arguments.l1)
    sources = find_sources(arguments.output)
    aal3 = read_atlas("aal3")
    places = {name: place_atlas(*where) for name, where in PLACES.items()}
    ratios, about, maps = [], [], {}
    for variant in arguments.variants:
        name, options = VARIANTS[variant]
        if name not in models:
            continue
        for term in arguments.terms:
            query, asked = TERMS[term], {**options}
            if "against" in asked:
                asked["against"] = asked["against"].format(patients=PATIENTS, query=query)
            result = contrast_documents(
                sources, query, model=models[name], cache=arguments.output / "cache", **asked
            )
            for place in EXPECTED[term]:
                found = result.regions(places[place]).loc[0, ["ratio", "low", "high"]]
                ratios.append({"term": term, "place": place, "variant": variant, **found})
            about.append(describe(term, query, variant, result, aal3))
            print(about[-1], ratios[-len(EXPECTED[term]) :], flush=True)
            maps[term, variant] = result.threshold_img
    ratios = pd.DataFrame(ratios)
    ratios.to_csv(arguments.output / "ratios.csv", index=False)
    print_table(list(about[0]), [list(row.values()) for row in about])
    print()
    print_ratios(ratios)
    if arguments.images:
        others = [term for term in CUTS if term not in PAPER]  # needs both models
        for name, terms in (("contrast-paper", PAPER), ("contrast-more", others)):
            save_small(draw_maps(maps, terms), arguments.images / f"{name}.png")
        save_small(draw_ratios(ratios), arguments.images / "contrast-ratios.png")


def describe(term, query, variant, result, atlas):
    raised = int((result.significant() & (result.log_ratio > 0)).sum())
    return {
        "term": term,
        "query": f"`{query}`",
        "variant": variant,
        "documents": f"{result.about['documents_in_group']:,}",
        "of": f"{result.about['documents_with_known_terms']:,}",
        "voxels raised": f"{raised:,}",
        "passing": f"{result.significant(min_ratio=1).mean():.0%}",
        f"and × {EFFECT}": f"{result.significant(min_ratio=EFFECT).mean():.0%}",
        "without a control": result.about["documents_without_a_control"],
        "kinds that differ": "; ".join(
            f"{row.kind} {row.difference:+.2f}" for row in result.kinds.head(3).itertuples()
        ),
        "most raised (AAL3)": ", ".join(result.regions(atlas).head(4)["region"]),
        "terms that carry it": ", ".join(result.terms["term"].head(5)),
        "left out": ", ".join(result.about["terms_left_out"]),
    }


def print_ratios(ratios):
    """Print a row for each term and place, a column for each variant."""
    rows = []
    for (term, place), each in ratios.groupby(["term", "place"], sort=False):
        cells = [
            f"{ratio:.2f} ({low:.2f} to {high:.2f}){'' if low > 1 else ' ' + verdict(low, high)}"
            for ratio, low, high in each[["ratio", "low", "high"]].itertuples(index=False)
        ]
        rows.append([term, place, *cells])
    print_table(["term", "place", *dict.fromkeys(ratios["variant"])], rows)


def verdict(low, high):
    return VERDICTS[int(low > 1) - int(high < 1)]


def draw_maps(maps, terms):
    """Draw what passes the threshold, a row for each term, the models side by side."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure
    from nilearn.plotting import plot_stat_map

    width, height, header = 10.0, 1.7, 0.3  # inches, of the figure, a row, and what is above
    label, column = 0.11, 0.41  # shares of the width
    figure = Figure((width, header + height * len(terms)), dpi=DPI, facecolor="white")
    share = height / figure.get_figheight()  # of a row
    for number, model in enumerate(("ℓ1", "shipped")):
        left = label + column * number
        figure.text(left + column / 2, 0.995, model, ha="center", va="top", fontsize=11)
        for row, term in enumerate(terms, start=1):
            bottom = share * (len(terms) - row)
            plot_stat_map(
                smooth(maps[term, model]),
                figure=figure,
                axes=(left, bottom, column, share),
                cut_coords=CUTS[term],
                threshold=FAINTEST,
                vmax=STRONGEST,
                cmap=SIGNED_COLOURS,
                colorbar=False,
                black_bg=False,
                draw_cross=False,
            )
            if number == 0:
                figure.text(0.005, bottom + share / 2, term, va="center", fontsize=11)
    colours = ScalarMappable(Normalize(-STRONGEST, STRONGEST), SIGNED_COLOURS)
    figure.colorbar(colours, cax=figure.add_axes((0.945, 0.2, 0.012, 0.6)), label="log ratio")
    return figure


def save_small(figure, path):
    """Write a figure as PNG of few colours."""
    from PIL import Image

    stream = io.BytesIO()
    write_png(figure, stream)
    Image.open(stream).convert("RGB").quantize(N_COLOURS).save(path, optimize=True)


def draw_ratios(ratios):
    """Draw the ratio of each place with its interval, variants in colours."""
    from matplotlib.figure import Figure

    rows = list(dict.fromkeys(zip(ratios["term"], ratios["place"], strict=True)))
    rows = [row for row in rows if row[0] not in NOT_DRAWN]
    values = ratios.set_index(["variant", "term", "place"])
    figure = Figure(figsize=(8, 0.9 + 0.3 * len(rows)), dpi=DPI, layout="constrained")
    axes = figure.subplots()
    for shift, (variant, colour) in enumerate(DRAWN.items()):
        for number, row in enumerate(rows):
            ratio, low, high = values.loc[(variant, *row), ["ratio", "low", "high"]]
            height = number + 0.22 * (shift - 1)
            axes.plot([low, high], [height, height], color=colour, linewidth=2)
            label = variant if number == 0 else None
            axes.plot([ratio], [height], "o", color=colour, markersize=4, label=label)
    axes.set_xscale("log")
    ticks = [0.7, 1, 1.5, 2, 3, 4]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_yticks(range(len(rows)), [f"{term}: {place}" for term, place in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel("probability relative to all documents, 95 % bootstrap interval")
    axes.grid(axis="x", color=GRID_COLOUR, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.legend(loc="lower right", frameon=False)
    return figure


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
