"""Models on disk: a folder of arrays, JSON and CSV, checksummed and versioned; nothing is pickled.

::

    info.json           what made it, when, format version, checksum of every other file
    model.json          parameters, λ, sharpness, certificate, what it was learned from
    partition.npz       regions that are predicted, as arrays of the partition
    brain.npz           what counts as brain, for an atlas
    mean_map.npy        mean probability of each region
    coefficients.npy    (n_terms, n_regions), float32
    terms.npz           weight (idf) and mean feature of each term
    vocabulary.csv      terms, categories and synonyms

A model of the mean map has none of the last three.
"""

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from neurowhere.encoder import Encoder
from neurowhere.exceptions import ModelError, NeurowhereError
from neurowhere.files import new_folder, read_info, write_info
from neurowhere.learn import Certificate, Choice
from neurowhere.space import partition_from_arrays
from neurowhere.text import TermExtractor, TfIdf, Vocabulary

KIND = "model"
FORMAT_VERSION = 1
REMEDY = "fetch or fit it again"
TOLERANCE = 1e-4  # of a sum of float32 probabilities

MODEL_NAME = "model.json"
PARTITION_NAME, BRAIN_NAME = "partition.npz", "brain.npz"
MEAN_NAME, COEFFICIENTS_NAME = "mean_map.npy", "coefficients.npy"
TERMS_NAME, VOCABULARY_NAME = "terms.npz", "vocabulary.csv"

# Parameters that JSON can hold; the others have files of their own, or belong to the machine.
PARAMETERS = (
    "loss",
    "text",
    "constraint",
    "min_studies",
    "section_weights",
    "laterality",
    "bandwidth",
    "lambdas",
    "validation",
    "tolerance",
    "seed",
)


def save_model(model: Encoder, folder: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write a fitted model as a folder, whole or not at all."""
    with new_folder(folder, overwrite=overwrite) as temporary:
        write_files(model, temporary)


def load_model(folder: str | os.PathLike[str] | None = None) -> Encoder:
    """Read a model that `save_model` or ``neurowhere fit`` wrote, after checking every file.

    Parameters
    ----------
    folder : path
        A folder that is missing, changed, cut short, foreign or written by a newer version is
        refused with a `ModelError`.

    Returns
    -------
    Encoder
        Predicts exactly what the saved one did.
    """
    if folder is None:
        raise ModelError("this version ships no model; give the folder of one (`neurowhere fit`)")
    path = Path(folder).expanduser()
    read_info(path, KIND, FORMAT_VERSION, ModelError, REMEDY)
    try:
        return _read_files(path)
    except (
        NeurowhereError,
        OSError,
        BadZipFile,
        EOFError,
        KeyError,
        TypeError,
        ValueError,
    ) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ModelError(f"{path} is not a whole model ({reason}); {REMEDY}") from error


def verify_model(folder: str | os.PathLike[str]) -> int:
    """Check every file of a model, and that it predicts densities; return the number of files."""
    model = load_model(folder)
    for name in vars(model):
        value = getattr(model, name)
        if isinstance(value, np.ndarray) and not np.isfinite(value).all():
            raise ModelError(f"{folder} holds numbers in {name} that are not finite; {REMEDY}")
    text = "" if model.text == "none" else " ".join(model.extractor_.terms)
    for probabilities in model.predict(["", text]):
        if probabilities.min() < 0 or abs(probabilities.sum() - 1) > TOLERANCE:
            raise ModelError(f"{folder} predicts what is no density; {REMEDY}")
    return sum(file.is_file() for file in Path(folder).expanduser().iterdir())


def write_files(model: Encoder, folder: Path) -> None:
    """Write the files of a model into an empty folder."""
    if not hasattr(model, "mean_map_"):
        raise ModelError("expected a fitted model; call fit before saving it")
    _write_json(_describe(model), folder / MODEL_NAME)
    _write_arrays(model.partition_.to_arrays(), folder / PARTITION_NAME)
    if model.brain_ is not model.partition_:
        _write_arrays(model.brain_.to_arrays(), folder / BRAIN_NAME)
    np.save(folder / MEAN_NAME, model.mean_map_, allow_pickle=False)
    if model.text != "none":
        np.save(folder / COEFFICIENTS_NAME, model.coefficients_, allow_pickle=False)
        terms = {"idf": model.weighting_.idf_, "mean": model.term_means_}
        _write_arrays(terms, folder / TERMS_NAME)
        model.vocabulary_.save(folder / VOCABULARY_NAME)
    write_info(folder, {"kind": KIND, "format_version": FORMAT_VERSION})


def _describe(model: Encoder) -> dict[str, Any]:
    """Give what model.json holds."""
    learned: dict[str, Any] = {"sharpness": model.sharpness_}
    if model.text != "none":
        certificate = model.certificate_
        learned |= {
            "penalty": model.penalty_,
            "certificate": None if certificate is None else asdict(certificate),
            "choice": asdict(model.choice_),
            "sided": model.extractor_.sided,
        }
    if model.constraint == "labels":
        learned["label_names"] = model.label_names_
    return {
        "parameters": {name: getattr(model, name) for name in PARAMETERS},
        "learned": learned,
        "training": model.training_,
    }


def _read_files(path: Path) -> Encoder:
    description = json.loads((path / MODEL_NAME).read_text("utf-8"))
    learned = description["learned"]
    partition = _read_partition(path / PARTITION_NAME)
    brain = _read_partition(path / BRAIN_NAME) if (path / BRAIN_NAME).exists() else None
    model = Encoder(partition, brain=brain, **description["parameters"])
    model.partition_, model.brain_ = partition, brain or partition
    model.training_ = description["training"]
    model.sharpness_ = float(learned["sharpness"])
    model.mean_map_ = np.load(path / MEAN_NAME, allow_pickle=False)
    if model.text == "none":
        model.coefficients_ = np.zeros((0, partition.n_regions), dtype=np.float32)
        model.term_means_ = np.zeros(0)
    else:
        _read_terms(model, path, learned)
    _check_shapes(model)
    return model


def _read_terms(model: Encoder, path: Path, learned: dict[str, Any]) -> None:
    """Read what a model knows of its terms."""
    model.vocabulary = model.vocabulary_ = Vocabulary.load(path / VOCABULARY_NAME)
    model.extractor_ = TermExtractor(model.vocabulary_, model.section_weights, learned["sided"])
    terms = _read_arrays(path / TERMS_NAME)
    model.weighting_, model.term_means_ = TfIdf.from_idf(terms["idf"]), terms["mean"]
    model.coefficients_ = np.load(path / COEFFICIENTS_NAME, allow_pickle=False)
    certificate, choice = learned["certificate"], learned["choice"]
    model.certificate_ = None if certificate is None else Certificate(**certificate)
    model.choice_ = Choice(**{**choice, "scores": np.array(choice["scores"])})
    model.penalty_ = float(learned["penalty"])
    if model.constraint == "labels":
        model.label_names_ = learned["label_names"]


def _check_shapes(model: Encoder) -> None:
    n_terms = 0 if model.text == "none" else len(model.extractor_.terms)
    shape = (n_terms, model.partition_.n_regions)
    shapes = (model.coefficients_.shape, (len(model.term_means_), len(model.mean_map_)))
    if set(shapes) != {shape}:
        raise ValueError(f"expected arrays of {shape[0]:,} terms and {shape[1]:,} regions")


def _read_partition(path: Path) -> Any:
    return partition_from_arrays(_read_arrays(path))


def _read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    with np.load(path, allow_pickle=False) as arrays:
        return dict(arrays)


def _write_arrays(arrays: dict[str, Any], path: Path) -> None:
    np.savez_compressed(path, **arrays)


def _write_json(content: dict[str, Any], path: Path) -> None:
    def plain(value: Any) -> Any:
        return value.tolist()  # NumPy's arrays and numbers

    text = json.dumps(content, indent=2, ensure_ascii=False, default=plain)
    path.write_text(text + "\n", "utf-8")
