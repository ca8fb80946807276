"""The recipe of the shipped model by kind of text, on outer folds, beside the plain likelihood.

    python benchmarks/kinds_of_text.py -o DIR --vocabulary FILE [--versions plain ridge shipped]

Everything is chosen inside the training studies of a fold. On its test studies: nats above the mean
map for title, abstract and keywords, title, keywords, one keyword, the words that NeuroQuery's
vocabulary lacks, and articles without their tables; calibrated regions and stated gains; retrieval;
bare terms that score below the mean map; and names of places of atlases that are no prior. The
version "plain" is version 4's recipe, fitted to the same studies: a log-linear model of
NeuroQuery's vocabulary; "ridge" is the linear model of the same features, and "neuroquery" what
neuroquery_kinds.py has measured. The texts are the same for all, and so are folds and test peaks,
which stay as printed. The shipped recipe learns from studies in Talairach space after conversion to
MNI, so that gains are also measured on test peaks that are converted so. Retrieval is by the
likelihood alone and by the full score of matcher.py. Fitted models are kept in DIR, with what
was measured of each beside it; a table that is deleted is made again.
"""

import argparse
import json
import sys
import time
import warnings
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.spatial import cKDTree

from matcher import retrieval as retrieval_of
from matcher import without_hubs
from neurowhere import Encoder, load_model, save_model
from neurowhere.evaluate.metrics import likelihood_matrix, recalls
from neurowhere.learn import LengthCalibration, mass_for, peak_levels, shuffle_split
from neurowhere.space import Atlas, VoxelGrid, default_atlas, place_peaks
from neurowhere.text import Vocabulary
from neurowhere.text.building.anatomy import build_full
from neurowhere.text.labels import words_of_label
from setting import DATA, print_table

sys.path.insert(0, str(Path(__file__).parents[1]))
from recipe import Recipe, read_material, to_encoder
from recipe.sources import articles_of, brodmann_atlas, in_mni, studies_in_brain

LOSSES = {"plain": "likelihood", "ridge": "l2"}  # of models of NeuroQuery's vocabulary
MEASURED_ELSEWHERE = "neuroquery"  # by neuroquery_kinds.py
VERSIONS = (*LOSSES, MEASURED_ELSEWHERE, "shipped")
SHARES = (0.5, 0.8, 0.95)
CHUNK = 200  # texts predicted at a time
LEAST_STUDIES = 10  # of a term of the plain model; test studies of a bare term
NEAR_MM, LEAST_MM3 = 10, 10
ROUNDING = 1e-5  # nats
OTHER_ATLASES = {
    "hcpex426": "hcpex426",
    "tian_subcortex_S1": "tian_subcortex_S1",
    "juelich": "juelich_maxprob-thr25",
    "ho_cortical_thr25": "ho_cortical_thr25",
    "ho_subcortical_thr25": "ho_subcortical_thr25",
    "cerebellum_diedrichsen": "cerebellum_diedrichsen",
}


def main():
    """Fit and score the folds, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--vocabulary", type=Path, help="vocabulary of the shipped version")
    parser.add_argument("--versions", nargs="+", choices=VERSIONS, default=["shipped"])
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=-1)
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    corpus, results = studies_in_brain(DATA), []
    for fold in range(arguments.folds):
        for version in arguments.versions:
            file = arguments.output / f"{version}-{fold}.json"
            if not file.exists() and version != MEASURED_ELSEWHERE:
                train, test = shuffle_split(corpus.groups.astype(str), fold, seed=0)
                model = fitted(version, corpus, train, arguments, file.with_suffix(""))
                file.write_text(json.dumps(measure(model, corpus, test), indent=1))
            if file.exists():
                results.append((version, fold, json.loads(file.read_text())))
    print_results(pd.DataFrame(results, columns=["version", "fold", "table"]))


def fitted(version, corpus, train, arguments, folder):
    """Return the model of a folder, fitted first if it is not there."""
    if not folder.exists():
        start = time.process_time()
        save_model(fit(version, corpus, train, arguments), folder, small=True)
        print(f"{folder.name}: {time.process_time() - start:.0f} s of processor time")
    return load_model(folder)


def print_results(results):
    """Print mean and spread over folds of each version, and of their differences to the first."""
    tables = {
        version: pd.DataFrame(some["table"].tolist(), index=some["fold"])
        for version, some in results.groupby("version", sort=False)
    }
    first, *others = tables
    rows = []
    for name in tables[first]:
        values = {version: table.get(name) for version, table in tables.items()}
        gains = [difference(values[other], values[first]) for other in others]
        rows.append([name, *map(told, values.values()), *gains])
    print_table(["", *tables, *(f"{other} − {first}" for other in others)], rows)


def told(values, sign=""):
    """Return mean and standard deviation over folds in words; nothing where it was not measured."""
    if values is None or values.isna().all():
        return ""
    spread = f" ± {values.std():.4f}" if values.count() > 1 else ""
    return f"{values.mean():{sign}.4f}{spread}"


def difference(values, others):
    """Return the paired difference over folds in words, and in how many folds it is positive."""
    if values is None:
        return ""
    gains = (values - others).dropna()
    return f"{told(gains, '+')}, {(gains > 0).sum()} of {len(gains)}" if len(gains) else ""


@cache
def material_of(vocabulary):
    """Read what the shipped recipe learns from, once."""
    return read_material(DATA, Vocabulary.load(vocabulary))


def fit(version, corpus, train, arguments):
    """Fit a model to the training studies of a fold."""
    if version == "shipped":
        material = material_of(arguments.vocabulary)
        recipe = Recipe(seeds=arguments.seeds, n_jobs=arguments.jobs)
        return to_encoder(*recipe.fit(material, train), train)
    return Encoder(
        VoxelGrid(4),
        LOSSES[version],
        vocabulary=build_full(DATA / "vocabulary"),
        min_studies=LEAST_STUDIES,
        repeats=arguments.seeds,
        n_jobs=arguments.jobs,
    ).fit(corpus.select(train))


def measure(model, corpus, test):
    """Measure all on the test studies of a fold."""
    start = time.perf_counter()
    peaks = Peaks(peaks_by_study(corpus), peaks_by_study(in_mni(DATA, corpus)))
    old = build_full(DATA / "vocabulary")
    table = {"test studies": len(test)}
    align = model.vocabulary_.align(corpus.terms).matrix
    for name, counts, studies in kinds(corpus, test, old):
        table |= score(model, name, maps_of_counts(model, counts @ align), peaks, studies)
    texts = [(row, text) for row, text in articles_of(DATA, corpus) if row in set(test.tolist())]
    encodings = [model.encode(text) for _, text in texts]
    maps = np.array([encoding.probabilities for encoding in encodings])
    n_terms = [sum(is_known(model)[list_of(model, each)]) for each in encodings]
    studies = np.array([row for row, _ in texts])
    table["test articles"] = len(texts)
    table |= score(model, "article", [(maps, np.array(n_terms))], peaks, studies)
    table |= retrieval("articles", maps, [peaks.printed[row] for row in studies])
    counts = sparse.csr_matrix(sum(corpus.counts.values())).tocsr()[test[:1000]] @ align
    maps = np.vstack([q for q, _ in maps_of_counts(model, counts)])
    table |= retrieval("1,000 abstracts", maps, [peaks.printed[row] for row in test[:1000]])
    train = np.setdiff1d(np.arange(len(corpus)), test)
    found = retrieval_of(model, corpus.select(train), corpus.select(test))
    table |= {f"full score, {name}": share for name, share in found.items() if "alone" not in name}
    table |= bare_terms(model, corpus, test, peaks.printed, old) | names_of_places(model)
    return table | {"seconds to score": time.perf_counter() - start}


class Peaks(NamedTuple):
    """Regions of the peaks of each study, as printed and with Talairach converted."""

    printed: list
    converted: list


def is_known(model):
    """Return which terms are no extra words."""
    gates = getattr(model.predictor_, "gates", None)
    return np.ones(len(model.extractor_.terms), bool) if gates is None else ~gates.is_extra


def list_of(model, encoding):
    """Return the columns of the terms of a text."""
    return [model.vocabulary_.index(term) for term in encoding.uses]


def peaks_by_study(corpus):
    """Regions of the peaks of each study."""
    grid = VoxelGrid(4)
    xyz = corpus.peaks[["x", "y", "z"]].to_numpy(np.float64)
    study, region = place_peaks(grid, grid, xyz, corpus.peak_rows)
    order = np.argsort(study, kind="stable")
    bounds = np.searchsorted(study[order], np.arange(1, len(corpus)))
    return np.split(region[order], bounds)


def kinds(corpus, test, old):
    """Yield kinds of text: name, counts of NeuroQuery's columns, studies."""
    sections = {name: counts.tocsr()[test] for name, counts in corpus.counts.items()}
    whole = sparse.csr_matrix(sum(sections.values()))
    yield "title, abstract, keywords", whole, test
    yield "title", sections["title"], test
    is_known = np.diff(old.align(corpus.terms).matrix.indptr) > 0
    keywords = sections["keywords"]
    known = sparse.csr_matrix(keywords @ sparse.diags_array(is_known.astype(np.float32)))
    known.eliminate_zeros()
    some = np.flatnonzero(np.diff(known.indptr))
    yield "keywords", keywords[some], test[some]
    rng = np.random.default_rng(0)
    drawn = [rng.choice(known.indices[known.indptr[i] : known.indptr[i + 1]]) for i in some]
    one = sparse.csr_matrix(
        (np.ones(len(some)), (np.arange(len(some)), drawn)), shape=(len(some), len(is_known))
    )
    yield "one keyword", one, test[some]
    unknown = sparse.diags_array((~is_known).astype(np.float32))
    yield "no term of NeuroQuery's vocabulary", sparse.csr_matrix(whole @ unknown), test


def maps_of_counts(model, counts):
    """Yield maps of texts given by counts of terms, and their numbers of known terms."""
    features = model.weighting_.transform(model.extractor_.weigh({"body": counts}))
    n_terms = np.diff(sparse.csr_matrix(features[:, is_known(model)]).indptr)
    for start in range(0, features.shape[0], CHUNK):
        some = slice(start, start + CHUNK)
        yield model.predict_features(features[some]), n_terms[some]


def score(model, name, maps, peaks, studies):
    """Return the mean gain over the mean map, true and stated, and what regions hold."""
    m = model.partition_.n_regions
    mean = np.log1p(model.mean_map_ * m)
    rows = []
    for q, n_terms in maps:
        ratio = np.log1p(q * m) - mean
        for own, r, n in zip(q, ratio, n_terms.tolist(), strict=True):
            region, moved = (each[studies[len(rows)]] for each in peaks)
            levels = peak_levels(own[None], own[None], np.zeros(len(region), int), region)
            expected, masses = calibrated(model, float(own @ r), n)
            gains = r[region].mean(), r[moved].mean()
            rows.append([*gains, expected, *((levels[:, None] < masses).mean(axis=0))])
    names = [
        "",
        "converted peaks, ",
        "stated gain, ",
        *(f"{share:.0%} region, " for share in SHARES),
    ]
    means = np.mean(rows, axis=0).tolist()
    return {before + name: mean for before, mean in zip(names, means, strict=True)}


def calibrated(model, expected, n_terms):
    """Return the stated gain, and the masses that should hold each share of the peaks.

    A linear model is not calibrated: it states its own masses.
    """
    calibration = model.calibration_
    if calibration is None:
        return expected, list(SHARES)
    if isinstance(calibration, LengthCalibration):
        masses = [calibration.mass_for(share, n_terms) for share in SHARES]
        return calibration.gain(expected, n_terms), masses
    return expected, [mass_for(share, calibration) for share in SHARES]


def retrieval(name, maps, peaks):
    """Find the text of coordinates, by the likelihood alone."""
    study = np.repeat(np.arange(len(peaks)), [len(own) for own in peaks])
    matrix = likelihood_matrix(maps, study, np.concatenate(peaks), maps.shape[1])
    kept = "coordinates to text, recall at 10"
    return {
        f"recall at 10, {name}": recalls(matrix)[kept],
        f"recall at 10 without hubs, {name}": recalls(without_hubs(matrix))[kept],
    }


def bare_terms(model, corpus, test, peaks, old):
    """Return the share of bare terms whose map scores their test peaks below the mean map.

    Peaks are pooled, so that a few studies with many peaks decide for many terms at once; and
    studies weigh alike. The map of a generic word is the mean map, but for rounding, and not below.
    """
    columns = old.align(corpus.terms).matrix
    counts = sparse.csc_matrix(sum(corpus.counts.values()).tocsr()[test] @ columns)
    frequent = np.flatnonzero(counts.getnnz(axis=0) >= LEAST_STUDIES)
    m = model.partition_.n_regions
    mean = np.log1p(model.mean_map_ * m)
    below = []
    for start in range(0, len(frequent), CHUNK):
        terms = frequent[start : start + CHUNK]
        for term, q in zip(terms, model.predict([old.terms[i] for i in terms]), strict=True):
            studies = test[counts.indices[counts.indptr[term] : counts.indptr[term + 1]]]
            gain = np.log1p(q * m) - mean
            pooled = gain[np.concatenate([peaks[i] for i in studies])].mean()
            by_study = np.mean([gain[peaks[i]].mean() for i in studies])
            below.append((pooled < -ROUNDING, by_study < -ROUNDING))
    shares = np.mean(below, axis=0).tolist()
    names = ("bare terms below the mean map", "bare terms below the mean map, studies alike")
    return {"bare terms": len(below)} | dict(zip(names, shares, strict=True))


def names_of_places(model):
    """Return the share of names whose strongest peak is within 10 mm of their region."""
    prior = {words_of_label(name)[0] for name in default_atlas().names + brodmann_atlas(DATA).names}
    table, every = {}, []
    for atlas, file in OTHER_ATLASES.items():
        near = [(words, mm <= NEAR_MM) for words, mm in distances(model, atlas, file)]
        table[f"names within 10 mm, {atlas}"] = float(np.mean([is_near for _, is_near in near]))
        every += near
    only = [is_near for words, is_near in every if words not in prior]
    return table | {
        "names within 10 mm, all other atlases": float(np.mean([is_near for _, is_near in every])),
        "names of no prior atlas": len(only),
        "names within 10 mm, of no prior atlas": float(np.mean(only)),
    }


def distances(model, atlas, file):
    """Yield names, and how far the strongest peak of each is from its region, ∞ if unknown."""
    labels = pd.read_csv(DATA / "atlases" / f"{atlas}_labels.csv")
    names = dict(zip(labels["index"].tolist(), labels["name"].tolist(), strict=True))
    regions = Atlas(DATA / "atlases" / f"{file}.nii.gz", names)
    rows = {}
    for row, label in enumerate(regions.names):
        words, _ = words_of_label(label)
        if words:
            rows.setdefault(words, []).append(row)
    for words, own in rows.items():
        voxels = np.argwhere(np.isin(regions.regions, own))
        if len(voxels) * abs(np.linalg.det(regions.affine[:3, :3])) < LEAST_MM3:
            continue
        xyz_mm = voxels @ regions.affine[:3, :3].T + regions.affine[:3, 3]
        if words not in model.vocabulary_:
            yield words, np.inf
            continue
        strongest = model.partition_.centers_mm[model.predict([words])[0].argmax()]
        yield words, cKDTree(xyz_mm).query(strongest)[0]


if __name__ == "__main__":
    main()
