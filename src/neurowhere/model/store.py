"""Models on disk: a folder of arrays, JSON and CSV, checksummed and versioned; nothing is pickled.

::

    info.json           what made it, when, format version, checksum of every other file
    model.json          parameters, λ, sharpness, certificate, what it was learned from
    partition.npz       regions that are predicted, as arrays of the partition
    brain.npz           what counts as brain, for an atlas
    predictor.npz       arrays of the regression; int8 with scales for a model that was made small
    terms.npz           weight (idf) and studies of each term, scales of its map
    calibration.npy     mass that holds each share of unseen peaks, for a model that knows it;
                        calibration.npz has it by the length of texts, and the gains too
    studies.npz         ids and vectors of the training studies, to find close ones
    vocabulary.csv      terms, categories and synonyms

A model of the mean map knows no terms. Files are plain ones of a sane size before they are read,
and their numbers are finite and in their ranges (`neurowhere.model.ranges`) after.
"""

import json
import math
import os
import stat
import zipfile
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere._tools.files import INFO_NAME, digest, expanded, new_folder, read_info, write_info
from neurowhere.exceptions import ModelError
from neurowhere.learn import Certificate, Choice, LengthCalibration, predictor_from_arrays
from neurowhere.model.encoder import Encoder
from neurowhere.model.lending import lend
from neurowhere.model.losses import find_loss
from neurowhere.model.ranges import check_ranges
from neurowhere.model.reading import GatedTfIdf
from neurowhere.model.term_maps import TermScales, keep_scales, term_scales
from neurowhere.model.text_model import Neighbours
from neurowhere.space import partition_from_arrays
from neurowhere.text import TermExtractor, TfIdf, Vocabulary
from neurowhere.text.features import WEIGHTINGS

KIND = "model"
FORMAT_VERSION, OLDEST_VERSION = 4, 3  # 4 may hold a blend, of which older programs know nothing
REMEDY = "fetch or fit it again"
NO_DENSITY = "predicts what is no density"
TOLERANCE = 1e-4  # of a sum of float32 probabilities

MODEL_NAME = "model.json"
PARTITION_NAME, BRAIN_NAME = "partition.npz", "brain.npz"
PREDICTOR_NAME, CALIBRATION_NAME = "predictor.npz", "calibration.npy"
LENGTHS_NAME, STUDIES_NAME = "calibration.npz", "studies.npz"
TERMS_NAME, VOCABULARY_NAME = "terms.npz", "vocabulary.csv"
NAMES = (
    MODEL_NAME, PARTITION_NAME, BRAIN_NAME, PREDICTOR_NAME, CALIBRATION_NAME, LENGTHS_NAME,
    STUDIES_NAME, TERMS_NAME, VOCABULARY_NAME,
)  # fmt: skip
SCALE = "_scale"  # ends the name of the scales of an array of 8-bit numbers

SHIPPED = Path(__file__).parents[1] / "data" / "model"

# Parameters that JSON can hold; the others have files of their own, or belong to the machine.
PARAMETERS = (
    "loss",
    "text",
    "constraint",
    "min_studies",
    "section_weights",
    "laterality",
    "negation",
    "sides",
    "findings",
    "hedge_weight",
    "features",
    "sharpness",
    "intercept",
    "nested",
    "bandwidth",
    "lambdas",
    "validation",
    "tolerance",
    "rank",
    "repeats",
    "seed",
)

# Bounds on what is read. A linear model of 6,000 terms on a 4-mm grid has arrays of 0.7 GB.
MAX_ARRAY_BYTES = 8 * 2**30  # of the arrays of one file, as they are in memory
MAX_TEXT_BYTES = 256 * 2**20  # of a file of JSON or CSV
ARRAY_SUFFIXES = (".npy", ".npz")
READERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def save_model(
    model: Encoder,
    folder: str | os.PathLike[str],
    *,
    small: bool = False,
    overwrite: bool = False,
) -> None:
    """Write a fitted model as a folder, whole or not at all.

    Parameters
    ----------
    model : Encoder
    folder : path
    small : bool
        Whether to round the large arrays to 8 bits, with a scale for each row: a quarter of the
        size, for at most 0.0002 nats.
    overwrite : bool
        Whether to replace a folder that exists.
    """
    with new_folder(folder, overwrite=overwrite) as temporary:
        write_files(model, temporary, small=small)


def load_model(folder: str | os.PathLike[str] | None = None) -> Encoder:
    """Read a model that `save_model` or ``neurowhere fit`` wrote, after checking every file.

    Parameters
    ----------
    folder : path, optional
        By default the model that the package ships. A folder that is missing, changed, cut short,
        foreign or of another format version is refused with a `ModelError`, and so is one whose
        numbers are out of their ranges, or whose arrays are larger than `MAX_ARRAY_BYTES`.

    Returns
    -------
    Encoder
        Predicts exactly what the saved one did.
    """
    path = SHIPPED if folder is None else expanded(folder)
    check_files(path, (INFO_NAME, *NAMES), REMEDY)
    info = read_info(path, KIND, FORMAT_VERSION, ModelError, REMEDY)
    if (found := int(info["format_version"])) < OLDEST_VERSION:
        raise ModelError(
            f"{path} has format version {found}, this program reads {OLDEST_VERSION} to "
            f"{FORMAT_VERSION}; {REMEDY}"
        )
    unknown = [name for name in NAMES if (path / name).exists() and name not in info["sha256"]]
    if unknown:
        raise ModelError(f"{path / unknown[0]} has no checksum in {INFO_NAME}; {REMEDY}")
    try:
        with np.errstate(all="ignore"):  # what overflows is no density, and is refused as such
            model = _read_files(path)
    except Exception as error:  # files that were tampered with fail in many ways
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ModelError(f"{path} is not a whole model ({reason}); {REMEDY}") from error
    lend(model, digest(*sorted(info["sha256"].values())), partial(load_model, folder))
    return model


def verify_model(folder: str | os.PathLike[str] | None = None) -> int:
    """Check every file of a model, and that it predicts densities.

    Parameters
    ----------
    folder : path, optional
        By default the model that the package ships.

    Returns
    -------
    int
        Number of its files.
    """
    folder = SHIPPED if folder is None else folder
    model = load_model(folder)
    text = "" if model.text == "none" else " ".join(model.extractor_.terms)
    with np.errstate(all="ignore"):  # what overflows is no density
        predicted = model.predict(["", text])
    if not all(map(_is_density, predicted)):
        raise ModelError(f"{folder} {NO_DENSITY}; {REMEDY}")
    return sum(file.is_file() for file in expanded(folder).iterdir())


def _is_density(probabilities: NDArray[np.floating]) -> bool:
    """Return whether probabilities are positive and sum to 1; those that are NaN are not."""
    return bool(probabilities.min() >= 0 and abs(probabilities.sum() - 1) <= TOLERANCE)


def write_files(model: Encoder, folder: Path, *, small: bool = False) -> None:
    """Write the files of a model into an empty folder."""
    if not hasattr(model, "predictor_"):
        raise ModelError("expected a fitted model; call fit before saving it")
    _write_json(_describe(model), folder / MODEL_NAME)
    _write_arrays(model.partition_.to_arrays(), folder / PARTITION_NAME)
    if model.brain_ is not model.partition_:
        _write_arrays(model.brain_.to_arrays(), folder / BRAIN_NAME)
    _write_large(model.predictor_.to_arrays(), folder / PREDICTOR_NAME, small)
    if model.text != "none":
        _write_arrays(_term_arrays(model, folder, small), folder / TERMS_NAME)
        model.vocabulary_.save(folder / VOCABULARY_NAME)
    if isinstance(model.calibration_, LengthCalibration):
        _write_arrays(model.calibration_.to_arrays(), folder / LENGTHS_NAME)
    elif model.calibration_ is not None:
        np.save(folder / CALIBRATION_NAME, model.calibration_, allow_pickle=False)
    if model.neighbours_ is not None:
        studies = {"ids": model.neighbours_.ids, "vectors": model.neighbours_.vectors}
        _write_large(studies, folder / STUDIES_NAME, small)
    write_info(folder, {"kind": KIND, "format_version": FORMAT_VERSION})


def _term_arrays(model: Encoder, folder: Path, small: bool) -> dict[str, NDArray[Any]]:
    """Return what is kept of each term: weight, studies, and the scales of its map."""
    if small:  # of the model as it was rounded
        model = copy(model)
        model.predictor_ = predictor_from_arrays(_read_large(folder / PREDICTOR_NAME))
    arrays = {"idf": model.weighting_.idf_, **term_scales(model)._asdict()}
    if model.term_studies_ is not None:
        arrays["studies"] = model.term_studies_.astype(np.int32)
    return arrays


def _describe(model: Encoder) -> dict[str, Any]:
    """Give what model.json holds."""
    learned: dict[str, Any] = {
        "choice": model.choice_ and asdict(model.choice_),
        "certificate": model.certificate_ and asdict(model.certificate_),
    }
    if model.text != "none":
        learned["sided"] = model.extractor_.sided
        learned["nested"] = model.extractor_.nested
    if model.constraint == "labels":
        learned["label_names"] = model.label_names_
    return {
        "parameters": {name: getattr(model, name) for name in PARAMETERS},
        "learned": learned,
        "training": model.training_,
    }


def _read_files(path: Path) -> Encoder:
    description = json.loads((path / MODEL_NAME).read_text("utf-8"))
    check_ranges(MODEL_NAME, description)
    learned = description["learned"]
    partition = _read_partition(path / PARTITION_NAME)
    brain = _read_partition(path / BRAIN_NAME) if (path / BRAIN_NAME).exists() else None
    model = Encoder(partition, brain=brain, **description["parameters"])
    find_loss(model.loss, model.constraint)
    model.partition_, model.brain_ = partition, brain or partition
    model.training_ = description["training"]
    model.predictor_ = predictor_from_arrays(_read_large(path / PREDICTOR_NAME))
    choice, certificate = learned["choice"], learned["certificate"]
    model.choice_ = choice and Choice(**{**choice, "scores": np.array(choice["scores"])})
    model.certificate_ = certificate and Certificate(**certificate)
    model.calibration_ = model.neighbours_ = model.term_studies_ = None
    if (path / CALIBRATION_NAME).exists():
        model.calibration_ = read_arrays(path / CALIBRATION_NAME)[""]
    if (path / LENGTHS_NAME).exists():
        model.calibration_ = LengthCalibration(**read_arrays(path / LENGTHS_NAME))
    if (path / STUDIES_NAME).exists():
        model.neighbours_ = Neighbours(**_read_large(path / STUDIES_NAME))
    if model.text != "none":
        _read_terms(model, path, learned)
    _check_shapes(model)
    return model


def _read_terms(model: Encoder, path: Path, learned: dict[str, Any]) -> None:
    """Read what a model knows of its terms."""
    model.vocabulary = model.vocabulary_ = Vocabulary.load(path / VOCABULARY_NAME)
    model.extractor_ = TermExtractor(
        model.vocabulary_,
        model.section_weights,
        learned["sided"],
        nested=learned["nested"],
    )
    arrays = read_arrays(path / TERMS_NAME)
    n_terms = len(model.extractor_.terms)
    for name, values in arrays.items():
        if values.shape != (n_terms,):
            raise ValueError(f"expected {name} of {n_terms:,} terms, got {values.size:,} numbers")
    model.weighting_ = _weighting(model, arrays.pop("idf"))
    model.term_studies_ = arrays.pop("studies", None)
    if arrays:
        keep_scales(model, TermScales(**arrays))
    if model.constraint == "labels":
        model.label_names_ = learned["label_names"]


def _weighting(model: Encoder, idf: NDArray[np.float32]) -> TfIdf:
    """Return the weights of terms; those of a model with gates depend on the text."""
    if getattr(model.predictor_, "gates", None) is None:
        return WEIGHTINGS[model.features].from_idf(idf)
    return GatedTfIdf.of_vocabulary(idf, model.vocabulary_, model.extractor_.terms)


def _check_shapes(model: Encoder) -> None:
    predictor, n_regions = model.predictor_, model.partition_.n_regions
    n_terms = 0 if model.text == "none" else len(model.extractor_.terms)
    no_terms = sparse.csr_matrix(np.zeros((1, n_terms), np.float32))
    if not (
        (predictor.n_terms, len(predictor.mean_map)) == (n_terms, n_regions)
        and (predicted := predictor.predict(no_terms)).shape == (1, n_regions)
        and predictor.added(no_terms).shape == (0, n_regions)
    ):
        raise ValueError(f"expected arrays of {n_terms:,} terms and {n_regions:,} regions")
    if not _is_density(predicted):
        raise ValueError(f"it {NO_DENSITY}")
    near = model.neighbours_
    if near is not None and (near.ids.ndim, near.vectors.shape[:1]) != (1, near.ids.shape):
        raise ValueError(f"expected an id for each study, got {near.ids.size:,} ids")


def _read_partition(path: Path) -> Any:
    arrays = read_arrays(path)
    if "regions" in arrays and not arrays["regions"].max() < len(arrays["ids"]):
        raise ValueError(f"expected an id for each region of {path.name}, got too few")
    return partition_from_arrays(arrays)


def _write_arrays(arrays: dict[str, Any], path: Path) -> None:
    np.savez_compressed(path, **arrays)


def _write_large(arrays: dict[str, NDArray[Any]], path: Path, small: bool) -> None:
    """Write arrays; if small, tables of float32 as 8-bit numbers with a scale for each row."""
    if not small:
        np.savez(path, **arrays)  # type: ignore[arg-type]
        return
    rounded: dict[str, NDArray[Any]] = {}
    for name, values in arrays.items():
        if values.ndim == 2 and values.dtype == np.float32:
            scale = np.abs(values).max(axis=1, keepdims=True) / 127
            scale[scale == 0] = 1
            rounded[name + SCALE] = scale
            values = np.round(values / scale).astype(np.int8)
        rounded[name] = values
    _write_arrays(rounded, path)


def _read_large(path: Path) -> dict[str, NDArray[Any]]:
    arrays = read_arrays(path)
    for name in [name for name in arrays if name.endswith(SCALE)]:
        scale = arrays.pop(name)
        with np.errstate(over="ignore"):  # what becomes infinite is refused below
            arrays[name.removesuffix(SCALE)] = arrays[name.removesuffix(SCALE)] * scale
    _check_numbers(path.name, arrays)
    return arrays


def _write_json(content: dict[str, Any], path: Path) -> None:
    def plain(value: Any) -> Any:
        return value.tolist()  # NumPy's arrays and numbers

    text = json.dumps(content, indent=2, ensure_ascii=False, default=plain)
    path.write_text(text + "\n", "utf-8")


def check_files(folder: Path, names: Iterable[str], remedy: str) -> None:
    """Refuse a folder in which a file that would be read is no plain file, or too large.

    A pipe would keep a reader waiting for ever, and so would some devices.

    Parameters
    ----------
    folder : Path
    names : iterable of str
        Files that a model may have; those that are missing are left to others.
    remedy : str
        What to do about it.
    """
    for name in names:
        file = folder / name
        try:
            found = file.stat()
        except OSError:
            continue
        if not stat.S_ISREG(found.st_mode):
            raise ModelError(f"expected a plain file, but {file} is none; {remedy}")
        bound = MAX_ARRAY_BYTES if file.suffix in ARRAY_SUFFIXES else MAX_TEXT_BYTES
        if found.st_size > bound:
            raise ModelError(f"{file} has {found.st_size:,} bytes, more than {bound:,}; {remedy}")


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Read the arrays of an npz or npy file, all finite; their size is checked before.

    Parameters
    ----------
    path : Path

    Returns
    -------
    dict of str to array
        That of an npy file has the name "".
    """
    if path.suffix == ".npy":
        with path.open("rb") as stream:
            _check_size(path.name, [_size(stream)])
        arrays = {"": np.load(path, allow_pickle=False)}
    else:
        with zipfile.ZipFile(path) as archive:
            sizes = []
            for member in archive.namelist():
                with archive.open(member) as stream:
                    sizes.append(_size(stream))
        _check_size(path.name, sizes)
        with np.load(path, allow_pickle=False) as loaded:
            arrays = dict(loaded)
    _check_numbers(path.name, arrays)
    return arrays


def _size(stream: Any) -> int:
    """Return the bytes of an array by its header; what has no such header is refused."""
    version = np.lib.format.read_magic(stream)
    shape, _, dtype = READERS[version](stream)
    return math.prod(shape) * max(dtype.itemsize, 1)


def _check_size(name: str, sizes: list[int]) -> None:
    if min(sizes, default=0) < 0 or sum(sizes) > MAX_ARRAY_BYTES:
        raise ValueError(
            f"the arrays of {name} would take {sum(sizes):,} bytes, more than {MAX_ARRAY_BYTES:,}"
        )


def _check_numbers(name: str, arrays: dict[str, NDArray[Any]]) -> None:
    check_finite(arrays)
    check_ranges(name, arrays)


def check_finite(arrays: Mapping[str, NDArray[Any]]) -> None:
    """Raise an error for numbers that are missing or infinite.

    Parameters
    ----------
    arrays : mapping of str to array
    """
    for name, values in arrays.items():
        if values.dtype.kind in "fc" and not np.isfinite(values).all():
            raise ValueError(f"numbers in {name or 'an array'} that are not finite")
