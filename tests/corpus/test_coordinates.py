"""Coordinates in other units and orders: made-up corpora with a brain of cortex, and real ones."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from neurowhere.corpus import Corpus, read_corpus
from neurowhere.corpus.coordinates import RULES, brain_radius, repair, to_lpi, to_mm
from neurowhere.corpus.documents import XYZ, documents_table, peaks_table
from neurowhere.exceptions import DataWarning

# All over the cortex, the cerebellum and deep structures, in MNI.
BRAIN = np.array(
    [
        [-8.0, -92, 2],
        [10, -84, 30],
        [-42, -66, 44],
        [30, -60, 56],
        [-26, -68, -34],
        [18, -54, -46],
        [-54, -30, 8],
        [44, -20, 52],
        [-22, -4, -18],
        [4, 8, 56],
        [36, 22, 0],
        [-30, 52, 14],
    ]
)
TO_VOXELS = np.array([[-0.5, 0, 0, 45], [0, 0.5, 0, 63], [0, 0, 0.5, 36], [0, 0, 0, 1]])


def corpus_of(*tables: tuple[str, str, np.ndarray]) -> Corpus:
    frames = [
        pd.DataFrame(xyz, columns=XYZ).assign(id=study, table=table) for study, table, xyz in tables
    ]
    ids = dict.fromkeys(study for study, _, _ in tables)
    return Corpus(documents_table([{"id": study} for study in ids]), peaks_table(pd.concat(frames)))


def fixed(corpus: Corpus, drop: tuple[str, ...] = (), convert: tuple[str, ...] = ()) -> Corpus:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return repair(corpus, drop=drop, convert=convert)


def names(corpus: Corpus) -> list[str]:
    return [problem.name for problem in corpus.problems]


def test_a_sound_corpus_stays_as_it_is() -> None:
    corpus = corpus_of(("1", "a", BRAIN), ("1", "b", BRAIN[:4]), ("2", "a", -BRAIN[6:9]))
    repaired = repair(corpus, drop=RULES, convert=())
    pd.testing.assert_frame_equal(repaired.peaks, corpus.peaks)
    assert repaired.problems == ()
    nothing = corpus.select([])
    assert repair(nothing, drop=RULES, convert=()).problems == ()


def test_mirrored_tables_are_put_right() -> None:
    mirrored = BRAIN * [-1, -1, 1]
    corpus = corpus_of(("1", "a", mirrored), ("2", "a", BRAIN), ("1", "b", mirrored[:3]))
    with pytest.warns(DataWarning, match=r"15 peaks in tables with x and y mirrored \(converted\)"):
        repaired = repair(corpus, drop=(), convert=["mirrored"])
    np.testing.assert_array_equal(repaired.peaks[XYZ], np.concatenate([BRAIN, BRAIN, BRAIN[:3]]))
    assert names(fixed(repaired, convert=("mirrored",))) == ["mirrored"]  # on record, once
    assert fixed(corpus).peaks.equals(corpus.peaks)
    assert len(fixed(corpus, drop=("mirrored",)).peaks) == 12


def test_tables_of_a_mirrored_study_that_say_otherwise_stay() -> None:
    mirrored = BRAIN * [-1, -1, 1]
    neutral = np.array([[-40.0, 0, 20], [40, 4, 10]])
    agreed = fixed(corpus_of(("1", "a", mirrored), ("1", "b", neutral)), convert=("mirrored",))
    np.testing.assert_array_equal(agreed.peaks[XYZ][-2:], neutral * [-1, -1, 1])
    split = corpus_of(("1", "a", mirrored), ("1", "b", neutral), ("1", "c", BRAIN))
    repaired = fixed(split, convert=("mirrored",))
    np.testing.assert_array_equal(repaired.peaks[XYZ][-14:], np.concatenate([neutral, BRAIN]))


def test_peaks_at_the_front_of_the_brain_are_not_taken_for_mirrored() -> None:
    frontal = np.array(
        [[x, y, z] for x in (-34, -12, 14, 36) for y in (60, 66) for z in (-8, 10.0)]
    )
    assert names(fixed(corpus_of(("1", "a", frontal)))) == []


def test_voxel_indices_become_mm() -> None:
    voxels = BRAIN @ TO_VOXELS[:3, :3].T + TO_VOXELS[:3, 3]
    repaired = fixed(corpus_of(("1", "a", voxels), ("2", "a", BRAIN)), convert=("voxels",))
    np.testing.assert_allclose(repaired.peaks[XYZ], np.concatenate([BRAIN, BRAIN]))
    assert names(repaired) == ["voxels"]


def test_right_frontal_peaks_are_not_taken_for_voxels() -> None:
    right = np.array([[38.0, 33, 32], [42, 26, 26], [39, 35, 23], [30, 47, 34], [33, 44, 29]])
    assert names(fixed(corpus_of(("1", "a", right)))) == []


def test_a_column_read_as_two() -> None:
    twice = BRAIN[:, [0, 0, 2]]
    mixed = np.concatenate([BRAIN[:6], twice[:6]])
    repaired = fixed(corpus_of(("1", "a", twice), ("1", "b", BRAIN)), drop=("columns",))
    np.testing.assert_array_equal(repaired.peaks[XYZ], BRAIN)
    assert names(fixed(corpus_of(("1", "a", mixed)))) == []
    assert names(fixed(corpus_of(("1", "a", twice[:3])))) == []


def test_tables_in_no_known_order_are_dropped() -> None:
    head = BRAIN + np.array([0, 30, 70])  # from the middle between the ears
    repaired = fixed(corpus_of(("1", "a", head), ("2", "a", BRAIN)), drop=("misplaced",))
    np.testing.assert_array_equal(repaired.peaks[XYZ], BRAIN)
    assert names(repaired) == ["misplaced"]


def test_repeated_rows_are_one_piece_of_evidence() -> None:
    once = np.concatenate([BRAIN, [[0.0, 100, 60]]])
    often = np.concatenate([BRAIN, np.tile([[0.0, 100, 60]], (30, 1))])
    assert names(fixed(corpus_of(("1", "a", once)))) == names(fixed(corpus_of(("1", "a", often))))


def test_without_tables_a_document_is_one() -> None:
    corpus = corpus_of(("1", "a", BRAIN * [-1, -1, 1]), ("1", "b", BRAIN[:3] * [-1, -1, 1]))
    bare = Corpus(corpus.documents, corpus.peaks.drop(columns="table"))
    repaired = fixed(bare, convert=("mirrored",))
    np.testing.assert_array_equal(repaired.peaks[XYZ], np.concatenate([BRAIN, BRAIN[:3]]))


def test_small_numbers_in_centimetres_are_not_taken_for_mm() -> None:
    corpus = corpus_of(("1", "a", BRAIN / 10), ("2", "a", BRAIN))
    repaired = fixed(corpus, drop=("statistics",))
    np.testing.assert_array_equal(repaired.peaks[XYZ], BRAIN)


@given(arrays(np.float64, (5, 3), elements=st.floats(-150, 150)))
def test_conversions_are_exact(xyz: np.ndarray) -> None:
    np.testing.assert_array_equal(to_lpi(to_lpi(xyz)), xyz)
    back = to_mm(xyz) @ TO_VOXELS[:3, :3].T + TO_VOXELS[:3, 3]
    np.testing.assert_allclose(back, xyz, atol=1e-12)
    np.testing.assert_array_equal(brain_radius(xyz), brain_radius(xyz * [-1, 1, 1]))


def test_the_ellipsoids_are_a_brain() -> None:
    from neurowhere.space import VoxelGrid

    grid = VoxelGrid(4)
    radius = brain_radius(grid.centers_mm)
    assert (radius <= 1).mean() > 0.96
    assert (radius < 1.1).mean() > 0.995
    box = np.stack(np.meshgrid(*[np.arange(-130.0, 131, 4)] * 3), axis=-1).reshape(-1, 3)
    inside = np.count_nonzero(brain_radius(box) <= 1)
    assert inside < 1.35 * grid.n_regions


def test_a_whole_reading_of_real_studies(data: Path, tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        corpus = read_corpus(data / "corpus", format="neuroquery")
    assert "peaks made of statistics, not coordinates (dropped)" in str(said[0].message)
    counts = {problem.name: problem.count for problem in corpus.problems}
    assert 2_000 < counts["mirrored"] < 3_000
    assert 400 < counts["voxels"] < 700
    assert 400 < counts["columns"] < 700
    assert 400 < counts["misplaced"] < 700
    corpus.save(tmp_path / "corpus")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        again = read_corpus(tmp_path / "corpus")
    assert not [
        each for each in said if "unsigned" not in str(each) and "negative" not in str(each.message)
    ]
    assert again.peaks.equals(corpus.peaks)
    assert again.problems == corpus.problems
