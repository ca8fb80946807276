"""Statistics are told from coordinates: made-up tables of every kind, and the real ones."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurowhere.corpus.coordinates import Tables, find_statistics, is_statistic, talairach_to_mni
from neurowhere.corpus.readers import neuroquery

RNG = np.random.default_rng(0)
CORTEX = np.array([[-42.0, -22, 54], [44, -20, 52], [-8, -88, 4], [28, 50, 16], [-30, 22, 2]])


def deviations(n: int) -> np.ndarray:
    return RNG.uniform(1, 9, (n, 3)).round(1) + 0.05


def test_a_row_of_standard_deviations_below_whole_numbers() -> None:
    table = np.concatenate([CORTEX, [[3.8, 4.6, 4.5]]])
    assert is_statistic(table).tolist() == [False] * 5 + [True]


def test_standard_deviations_below_each_mean() -> None:
    means = CORTEX + 0.3
    table = np.stack([means, deviations(5)], axis=1).reshape(-1, 3)
    assert is_statistic(table).tolist() == [False, True] * 5


def test_a_block_of_t_values_beside_the_coordinates() -> None:
    t_values = np.array([[7.4, 4.2, 3.9], [3.3, 1.9, 6], [3.7, 5.1, 2.8], [4, 12, 6.4]])
    table = np.concatenate([CORTEX, t_values])
    assert is_statistic(table).tolist() == [False] * 5 + [True] * 4


def test_t_values_with_their_signs() -> None:
    table = np.array([[4.01, 0, -3.09], [-3.43, 0, -6.54], [-5.67, 4.23, -5.51]] * 2)
    assert is_statistic(table).all()
    assert not is_statistic(table[:4]).any()  # so few may be peaks in the striatum


@pytest.mark.parametrize("column", [0, 1, 2])
def test_a_column_of_t_values(column: int) -> None:
    table = np.tile(CORTEX, (2, 1))
    table[:5, column] = [3.37, 4.26, 13.68, 5.0, 2.93]
    assert not is_statistic(table).any()  # four numbers with decimals prove nothing
    table[:6, column] = [3.37, 4.26, 13.68, 5.0, 2.93, 7.56]
    assert is_statistic(table).tolist() == [True] * 6 + [False] * 4


def test_two_columns_of_statistics_beside_a_brodmann_area() -> None:
    shifted = np.array([[10, 5.07, 4.63], [46, 3.61, 3.43], [6, 3.38, 3.23]])
    assert is_statistic(np.concatenate([shifted, CORTEX])).tolist() == [True] * 3 + [False] * 5


def test_the_rest_of_a_table_of_shifted_columns() -> None:
    y_z_t = np.array(
        [[-88, 4, 14.15], [-92, -8, 10.14], [-52, 8, 5.33], [48, 20, 5.12], [28, 8, 4.7]]
    )
    area_size_x = np.array([[18.0, 122, 24], [9, 124, -36]])
    assert is_statistic(np.concatenate([area_size_x, y_z_t])).all()
    coordinates = np.array([[-24.0, -84, -10], [26, -92, 16]])
    found = is_statistic(np.concatenate([coordinates, y_z_t]))
    assert found.tolist() == [False, False] + [True] * 5


def test_true_coordinates_with_decimals_stay() -> None:
    deep = np.array([[-8.1, 5.6, 6.5], [9.2, 3.5, 1.9], [-24.3, -7.7, -18.2]])
    half_millimetres = CORTEX + 0.5
    two_digits = np.array([[-42, -65, -1.3], [-49, -62, 0.9], [-47, -58, 2.2], [-51, -68, 3.7]])
    slices = np.concatenate([CORTEX, CORTEX])
    slices[:, 2] = [2.5, 7.5, 12.5, 17.5, 2.5, 7.5, 12.5, 17.5, 2.5, 7.5]
    for table in (deep, half_millimetres, two_digits, slices, np.concatenate([deep, deep - 30])):
        assert not is_statistic(table).any()


def test_converted_coordinates_stay() -> None:
    deep = np.array([[2.0, 2, 6], [4, 2, 8], [6, 6, 2], [2, 4, 8], [4, 4, 2]])
    assert not is_statistic(talairach_to_mni(deep)).any()
    assert is_statistic(talairach_to_mni(deep).round(2)).all()


@given(st.lists(st.tuples(*[st.integers(-100, 100)] * 3), max_size=20))
def test_whole_numbers_are_never_statistics(rows: list[tuple[int, ...]]) -> None:
    assert not is_statistic(np.array(rows, dtype=float).reshape(-1, 3)).any()


@given(st.lists(st.tuples(*[st.integers(-40, 200)] * 3), max_size=15))
def test_what_is_left_has_no_statistics(rows: list[tuple[int, ...]]) -> None:
    table = np.array(rows, dtype=float).reshape(-1, 3) / 10
    left = table[~is_statistic(table)]
    assert not is_statistic(left).any()


# Tables with decimals, or small numbers, that were looked at and are coordinates.
TRUE_TABLES = [
    ("28053642", "tab2"),
    ("28053642", "tab3"),
    ("26178381", "T2"),
    ("27261159", "t0005"),
    ("18937281", "T1"),
    ("15325368", "T1"),
    ("21123574", "T2"),
    ("19864015", "tbl3"),
    ("20519535", "T1"),
    ("28392491", "t0010"),
    ("21677029", "tbl3"),
    ("18248740", "T2"),
    ("27168331", "hbm23250-tbl-0003"),
    ("23223206", "nss146-T4"),
]


def test_real_tables(data: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        corpus = neuroquery.read(data / "corpus")
    found = find_statistics(Tables.of(corpus))
    peaks = corpus.peaks.assign(found=found)
    near = np.linalg.norm(peaks[["x", "y", "z"]].to_numpy() - [4, 6, 4], axis=1) < 7
    for study in ("19109919", "23675314", "23741616", "19243925"):  # known for their t-values
        of_study = peaks["id"] == study
        assert peaks["found"][of_study].sum() >= 13
        assert peaks["found"][of_study & near].mean() > 0.9
    by_table = peaks.groupby(["id", "table"])["found"].sum()
    assert [by_table[table] for table in TRUE_TABLES] == [0] * len(TRUE_TABLES)
    assert 1_000 < found.sum() < 1_300
    assert peaks["id"][found].nunique() < 70
