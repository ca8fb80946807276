"""Recipe: how the shipped model is fitted, stage by stage.

1. A log-linear model of the studies, q = softmax(b + xᵀA S): weights of terms and a first fit on a
   coarse grid, then a few epochs on the fine one; several fits averaged.
2. Extra words that tell where, and the associates of all words in texts without coordinates, which
   are where the loadings B of short texts start from. The names of places get their prior.
3. B moves on short views of the studies and on bare terms, D on articles.
4. A ridge on views of the studies is mixed into the exponent of long texts.

Sharpness and calibration come from validation studies, read by models that did not see them. There
are several such splits, because one holds few articles.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.ndimage import distance_transform_edt

from neurowhere._tools.parallel import track
from neurowhere.learn import (
    Choice,
    Gates,
    LengthCalibration,
    LogLinear,
    Prior,
    Schedule,
    average,
    fit_loglinear,
    learn_term_weights,
    shuffle_split,
)
from neurowhere.learn.blend import ShownStudies, fit_blend
from neurowhere.learn.loglinear import TargetRows, importance_of
from neurowhere.model.losses.likelihood import Likelihood, sharpness_scores, to_studies
from neurowhere.model.reading import GatedTfIdf
from neurowhere.model.training import TrainingData
from neurowhere.space import VoxelGrid
from neurowhere.space.density import Targets
from neurowhere.text import TfIdf, Vocabulary
from recipe.material import Material, associates, telling_words
from recipe.refinement import FEW_PEAKS, LONG, SHORT, RefinementTexts, refine
from recipe.views import Fit, HeldTexts, Views, bare_terms, calibrate, score_held

Rows = NDArray[np.intp]
Floats = NDArray[np.float32]

COARSE = Schedule()
FINE = Schedule(epochs=4, rate=0.005)
ASSOCIATES = 2.0  # strength of associates
EXTRA_WEIGHT = 0.5  # factor on the idf of extra words
MANY_PEAKS = 60  # number of peaks of a bare term
FEW_STUDIES = 30  # studies below which a name weighs what its words do
VIEW_WEIGHTS = [1.0, 0.5, 0.5]  # whole study, title, keywords
HELD_ARTICLES, HELD_OTHERS = 0.15, 0.05  # shares of the studies with an article, and without


class Trial(NamedTuple):
    """A plain model of part of the studies, and how it does on the others."""

    part: Rows  # studies that it is fitted to
    held: Rows  # studies that it did not see
    weighting: TfIdf
    term_weights: Floats
    plain: LogLinear
    scores: list[float]  # at each sharpness, in nats


@dataclass(frozen=True, eq=False)
class Recipe:
    """Fits the shipped model.

    Attributes
    ----------
    seeds : int
        Fits that are averaged.
    splits : int
        Splits of the studies that models are tried on.
    seed : int
    n_jobs : int
    coarse, fine : Schedule
    """

    seeds: int = 2
    splits: int = 2
    seed: int = 0
    n_jobs: int = -1
    coarse: Schedule = COARSE
    fine: Schedule = FINE

    def fit(self, material: Material, rows: Rows) -> tuple[Fit, Choice, LengthCalibration]:
        """Choose and calibrate on parts of some studies, then fit all of them.

        Parameters
        ----------
        material : Material
        rows : array of int
            Studies to learn from.

        Returns
        -------
        Fit, Choice, LengthCalibration
        """
        trials = [self.try_on_part(material, rows, split) for split in range(self.splits)]
        choice = self.choose(trials)
        calibration = self.calibrate(material, trials, choice)
        term_weights = np.mean([trial.term_weights for trial in trials], axis=0)
        weighting = reweighted(TfIdf().fit(known_counts(material)[rows]), term_weights)
        plain = self.fit_plain(material, rows, weighting).sharpened(choice.sharpness)
        return self.refine(material, rows, weighting, plain), choice, calibration

    def try_on_part(self, material: Material, rows: Rows, split: int = 0) -> Trial:
        """Fit most of some studies, and score the others.

        Parameters
        ----------
        material : Material
        rows : array of int
        split : int
            Which studies are held out.

        Returns
        -------
        Trial
        """
        part, held = self._split(material, rows, split)
        trial = replace(self, seeds=1)
        weighting, term_weights = trial.weigh(material, part)
        plain = trial.fit_plain(material, part, weighting)
        data = _data(material, weighting, held, material.grid, material.targets)
        return Trial(part, held, weighting, term_weights, plain, sharpness_scores(plain, data))

    def _split(self, material: Material, rows: Rows, split: int) -> tuple[Rows, Rows]:
        """Split studies into those to fit on and those to hold out, twins on one side.

        Few studies have an article, so that a larger share of these is held out.
        """
        groups = _groups(material)[rows]
        has_article = np.isin(groups, groups[np.isin(rows, material.articles.study)])
        held = np.zeros(len(rows), bool)
        for some, share in ((has_article, HELD_ARTICLES), (~has_article, HELD_OTHERS)):
            if some.any():
                _, out = shuffle_split(groups[some], split, seed=self.seed, share=share)
                held[np.flatnonzero(some)[out]] = True
        return rows[~held], rows[held]

    def choose(self, trials: Sequence[Trial]) -> Choice:
        """Choose the sharpness by what trials held out."""
        scores = np.mean([trial.scores for trial in trials], axis=0)
        best = int(np.argmax(scores))
        return Choice(
            self.coarse.decay[0], Likelihood.sharpness[best], float(scores[best]), scores[None]
        )

    def calibrate(
        self, material: Material, trials: Sequence[Trial], choice: Choice
    ) -> LengthCalibration:
        """Calibrate by the texts that trials held out, as sharp as the model will be."""
        held: list[HeldTexts] = []
        for trial in trials:
            plain = trial.plain.sharpened(choice.sharpness)
            fit = self.refine(material, trial.part, trial.weighting, plain)
            held += score_held(fit, trial.held)
        return calibrate(held)

    def weigh(self, material: Material, rows: Rows) -> tuple[TfIdf, Floats]:
        """Learn the weights of known terms on the coarse grid."""
        weighting = TfIdf().fit(known_counts(material)[rows])
        data = _data(material, weighting, rows, material.coarse_grid, material.coarse_targets)
        epochs = learn_term_weights(
            to_studies(data), self.coarse, seed=self.seed, n_jobs=self.n_jobs
        )
        *_, weights = track(epochs, "weights", self.coarse.n_epochs)
        return reweighted(weighting, weights), weights

    def fit_plain(self, material: Material, rows: Rows, weighting: TfIdf) -> LogLinear:
        """Fit the plain model of the studies, from coarse to fine."""
        coarse = to_studies(
            _data(material, weighting, rows, material.coarse_grid, material.coarse_targets)
        )
        fine = to_studies(_data(material, weighting, rows, material.grid, material.targets))
        models = []
        for seed in range(self.seed, self.seed + self.seeds):
            epochs = fit_loglinear(coarse, self.coarse, seed=seed, n_jobs=self.n_jobs)
            *_, model = track(epochs, f"coarse fit {seed}", self.coarse.n_epochs)
            start = LogLinear(
                fine.mean,
                model.loadings,
                resampled(model.components, material.coarse_grid, material.grid),
            )
            epochs = fit_loglinear(fine, self.fine, seed=seed, n_jobs=self.n_jobs, start=start)
            *_, model = track(epochs, f"fine fit {seed}", self.fine.n_epochs)
            models.append(model)
        return average(models).truncated(self.coarse.rank)

    def refine(self, material: Material, rows: Rows, weighting: TfIdf, plain: LogLinear) -> Fit:
        """Add what short texts, articles and names of places say besides."""
        start, back = plain.balanced(self.seed)
        known = known_counts(material)
        hidden = start.project(weighting.transform(known[rows]))
        extra = material.n_known + telling_words(
            material.counts[rows][:, material.n_known :], hidden
        )
        used = np.flatnonzero(_is_used(material, rows))
        material = material.select(np.concatenate([used, extra]))
        plain_weighting = TfIdf.from_idf(weighting.idf_[used])
        model = replace(start, loadings=start.loadings[used])
        extra_idf = EXTRA_WEIGHT * TfIdf().fit(material.counts[rows][:, len(used) :]).idf_
        idf = np.concatenate([_with_names(plain_weighting.idf_, material, rows), extra_idf])
        terms = material.vocabulary.terms
        gated = GatedTfIdf.of_vocabulary(idf, material.vocabulary, terms)
        model = LogLinear(
            model.mean,
            _padded(model.loadings, len(terms)),
            model.components,
            gates=Gates(gated.gates.is_extra),
            short=_associates(material, rows, plain_weighting, model.loadings),
            long=np.zeros((len(terms), model.loadings.shape[1]), np.float32),
            prior=_prior(material, rows, model),
        )
        model = self._refine_short(Fit(material, gated, model), rows)
        model = self._refine_long(Fit(material, gated, model), rows)
        return self.blended(Fit(material, gated, _turned(model, back)), rows)

    def blended(self, fit: Fit, rows: Rows) -> Fit:
        """Add the ridge that is mixed into the exponent of long texts.

        Parameters
        ----------
        fit : Fit
        rows : array of int
            Studies to learn it from.

        Returns
        -------
        Fit
        """
        material = fit.material
        counts = [material.counts, *(material.sections[name] for name in ("title", "keywords"))]
        coarse, fine = (
            targets.select(rows) for targets in (material.coarse_targets, material.targets)
        )
        shown = ShownStudies(
            [fit.weighting.transform(each[rows]) for each in counts],
            VIEW_WEIGHTS,
            importance_of(_n_peaks(fine), FEW_PEAKS),
            coarse.rows,
            fine.rows,
        )
        blend = fit_blend(shown, seed=self.seed)
        return replace(fit, predictor=replace(fit.predictor, blend=blend))

    def _refine_short(self, fit: Fit, rows: Rows) -> LogLinear:
        """Refine on views of studies, then bare terms."""
        material, weighting = fit.material, fit.weighting
        sections = {name: counts[rows] for name, counts in material.sections.items()}
        views = Views(sections, material.within, weighting.idf_, self.seed)
        of_studies = material.targets.select(rows)
        importance = importance_of(_n_peaks(of_studies), FEW_PEAKS)
        is_shown = (weighting.idf_ > 0) & ~weighting.gates.is_extra
        bare = bare_terms(material.counts[rows], material.within, importance, is_shown)
        alone = weighting.transform(bare.counts)
        shares = sparse.vstack([of_studies.shares, bare.studies @ of_studies.shares])
        targets: TargetRows = replace(of_studies, shares=sparse.csr_matrix(shares)).rows
        n_peaks = np.append(_n_peaks(of_studies), np.full(alone.shape[0], MANY_PEAKS))

        def draw() -> sparse.csr_matrix:
            return sparse.csr_matrix(sparse.vstack([weighting.transform(views.draw()), alone]))

        return self._refined(fit.predictor, "short", RefinementTexts(draw, targets, n_peaks))

    def _refine_long(self, fit: Fit, rows: Rows) -> LogLinear:
        articles = fit.material.articles
        seen = np.flatnonzero(np.isin(articles.study, rows))
        if not len(seen):
            return fit.predictor
        features = fit.weighting.transform(fit.article_counts()[seen])
        targets = fit.material.targets
        studies = articles.study[seen]
        texts = RefinementTexts(
            lambda: features, lambda rows: targets.rows(studies[rows]), _n_peaks(targets)[studies]
        )
        return self._refined(fit.predictor, "long", texts)

    def _refined(
        self, model: LogLinear, kind: Literal["short", "long"], texts: RefinementTexts
    ) -> LogLinear:
        schedule = SHORT if kind == "short" else LONG
        epochs = refine(model, kind, texts, schedule, seed=self.seed, n_jobs=self.n_jobs)
        *_, model = track(epochs, f"{kind} texts", schedule.epochs)
        return model


def resampled(maps: Floats, grid: VoxelGrid, other: VoxelGrid) -> Floats:
    """Interpolate maps from one grid to another, linearly: (r, m) to (r, m of the other).

    Beyond the edge, maps are as at the nearest voxel.

    Parameters
    ----------
    maps : array of shape (r, m)
    grid, other : VoxelGrid

    Returns
    -------
    array of shape (r, m of the other grid)
    """
    inverse = np.linalg.inv(grid.affine)
    points = other.centers_mm @ inverse[:3, :3].T + inverse[:3, 3]
    nearest = distance_transform_edt(grid.regions < 0, return_distances=False, return_indices=True)
    region = grid.regions[tuple(nearest)]  # region of the nearest voxel in the brain
    last = np.array(region.shape) - 1
    points = np.clip(points, 0, last)
    corner = np.minimum(points.astype(np.intp), last - 1)
    shares = np.stack([corner + 1 - points, points - corner])  # share of either side, by axis
    rows, weights = [], []
    for step in np.ndindex(2, 2, 2):
        rows.append(region[tuple((corner + step).T)])
        weights.append(np.prod([shares[side, :, axis] for axis, side in enumerate(step)], axis=0))
    columns = np.tile(np.arange(len(points)), len(rows))
    entries = (np.concatenate(weights, dtype=np.float32), (np.concatenate(rows), columns))
    between = sparse.csr_matrix(entries, shape=(grid.n_regions, len(points)))
    return np.ascontiguousarray(maps @ between, np.float32)


def known_counts(material: Material) -> sparse.csr_matrix:
    """Return the counts of known terms in the studies."""
    return material.counts[:, : material.n_known]


def _groups(material: Material) -> NDArray[np.str_]:
    return material.corpus.groups.astype(str)


def known_names(vocabulary: Vocabulary) -> Vocabulary:
    """Return a vocabulary without extra words: that of a model is one to fit another with."""
    categories = vocabulary.categories
    return vocabulary.subset(name for name in vocabulary.terms if categories.get(name) != "extra")


def reweighted(weighting: TfIdf, weights: Floats) -> TfIdf:
    """Return weights of terms times others."""
    return TfIdf.from_idf(weighting.idf_ * weights)


def _data(
    material: Material, weighting: TfIdf, rows: Rows, grid: VoxelGrid, targets: Targets
) -> TrainingData:
    return TrainingData(
        weighting.transform(known_counts(material)[rows]),
        targets.select(rows),
        _groups(material)[rows],
        grid.volumes_mm3,
        grid.total_volume_mm3,
    )


def _n_peaks(targets: Targets) -> NDArray[np.intp]:
    return np.bincount(targets.study, minlength=len(targets))


def _is_used(material: Material, rows: Rows) -> NDArray[np.bool_]:
    """Return which known terms there is anything to learn about."""
    places = np.array([term in material.places for term in material.vocabulary.terms])
    counted = [material.counts[rows], *material.bodies]
    used = places | np.any([counts.getnnz(axis=0) > 0 for counts in counted], axis=0)
    used_known: NDArray[np.bool_] = used[: material.n_known]
    return used_known


def _with_names(idf: Floats, material: Material, rows: Rows) -> Floats:
    """Return the weights of known terms, in which a rare name of a place weighs as its words do.

    A name that few studies mention has no weight to speak of, and the words in it would win over
    its prior: "occipital pole".
    """
    raised = idf.copy()
    n_studies = material.counts[rows].getnnz(axis=0)
    for term, name in enumerate(material.vocabulary.terms[: material.n_known]):
        inner = material.within.indices[slice(*material.within.indptr[term : term + 2])]
        if name in material.places and n_studies[term] < FEW_STUDIES and len(inner):
            raised[term] = max(idf[term], idf[inner].max())
    return raised


def _associates(material: Material, rows: Rows, weighting: TfIdf, loadings: Floats) -> Floats:
    """Return where the loadings of short texts start from."""
    n_known = material.n_known

    def of(counts: sparse.csr_matrix) -> Floats:
        return associates(counts, weighting.transform(counts[:, :n_known]), loadings)

    found = np.mean([of(counts) for counts in material.bodies], axis=0)
    found[n_known:] += of(material.counts[rows])[n_known:]
    found[n_known:] /= 2
    strong: Floats = (ASSOCIATES * found).astype(np.float32)
    return strong


def _prior(material: Material, rows: Rows, model: LogLinear) -> Prior | None:
    """Return the prior of the names of places."""
    index = {term: i for i, term in enumerate(material.vocabulary.terms)}
    named = {index[term]: density for term, density in material.places.items() if term in index}
    if not named:
        return None
    terms = np.array(list(named))
    n_studies = material.counts[rows].getnnz(axis=0)[terms]
    mean = model.mean_map * material.grid.n_regions
    return Prior.make(terms, np.array(list(named.values())), mean, n_studies)


def _padded(loadings: Floats, n_terms: int) -> Floats:
    """Add terms that have no loadings."""
    more = np.zeros((n_terms - len(loadings), loadings.shape[1]), np.float32)
    return np.concatenate([loadings, more])


def _turned(model: LogLinear, back: Floats) -> LogLinear:
    """Return a model in the coordinates of `truncated`."""
    assert model.short is not None
    assert model.long is not None
    components = np.linalg.solve(back.astype(np.float64), model.components)
    return replace(
        model,
        loadings=model.loadings @ back,
        short=model.short @ back,
        long=model.long @ back,
        components=np.ascontiguousarray(components, np.float32),
    )
