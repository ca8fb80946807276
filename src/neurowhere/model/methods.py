"""Methods: how a map came about, in words and references for a paper."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from neurowhere._tools.files import release
from neurowhere.text.kinds import Kind

__all__ = ["OF_PLACE", "OF_SEATS", "OF_TERM", "MethodsText", "cite", "write_methods"]

REFERENCES = files("neurowhere.model") / "references.bib"
ENTRY = re.compile(r"^@\w+\{(\w+),.*?^\}$", re.M | re.S)
AAL3, FILE_NAME = "AAL3", "methods.txt"
FORMULAS: dict[Kind | None, str] = {
    "study": "The text was read as a study: its map is a product of what its terms contribute.",
    "report": "The text was read as a report: its map is a mixture of the places of its findings.",
    None: "Texts were read as studies, whose maps are products of what their terms contribute, or "
    "as reports, whose maps are mixtures of the places of their findings, as their words decide.",
}
SHOWN = (
    "Maps show the ratio of this density to that of the average study, both mixed with the "
    "uniform density in equal parts, or the density as the share of the peaks per cm³, in MNI152 "
    "space."
)
OF_TERM = "The map of a term shows what the term adds to the {unit} of a place, in MNI152 space."
OF_PLACE = "Terms were ranked by the correlation of their maps with the place."
OF_SEATS = (
    "The overlay counts the reports that have a seat of a finding at a place; studies, and reports "
    "without a seat, are left out."
)
CITED = {  # references that not every paragraph has, and how it names them
    "dockes2020neuroquery": "Dockès et al., 2020",
    "rolls2020automated": "Rolls et al., 2020",
    "benjamini1995controlling": "Benjamini and Hochberg, 1995",
    "nadeau2003inference": "Nadeau and Bengio, 2003",
}
READING = {  # options of the reading: what is done with them, and without
    "negation": ("what is denied is left out", "what is denied counts as well"),
    "sides": ("sides that the text gives are followed", "sides are not followed"),
    "findings": (
        "sections of reports without findings are left out",
        "all sections of reports count",
    ),
}


@dataclass(frozen=True)
class MethodsText:
    """How a map came about.

    Attributes
    ----------
    text : str
        A paragraph for the methods of a paper.
    bibtex : str
        What it cites.

    Examples
    --------
    >>> print(MethodsText("Maps were made with neurowhere.", "@software{neurowhere}"))
    Maps were made with neurowhere.
    <BLANKLINE>
    @software{neurowhere}
    """

    text: str
    bibtex: str

    def write(self, folder: Path) -> None:
        """Write both into a folder, as methods.txt."""
        (folder / FILE_NAME).write_text(f"{self}\n", "utf-8")

    def __str__(self) -> str:
        return f"{self.text}\n\n{self.bibtex}"


def write_methods(
    about: Mapping[str, Any],
    options: Mapping[str, Any],
    kind: Kind | None = None,
    *,
    atlas: str = AAL3,
    formula: str | None = None,
    also: str = "",
) -> MethodsText:
    """Write how maps of a model came about.

    Parameters
    ----------
    about : mapping
        Summary of the model: `Encoder.summary`.
    options : mapping
        How texts were read: negation, sides, findings, hedge_weight; by default as usual.
    kind : "report" or "study", optional
        How a text was read; by default as its words decide.
    atlas : str
        Name of the atlas that names regions.
    formula : str, optional
        How maps were drawn that are not those of texts.
    also : str
        What was done beside.

    Returns
    -------
    MethodsText
        It cites what the paragraph names.
    """
    parts = [
        f"Text was mapped to the brain with neurowhere {release()} (The neurowhere developers), "
        "which predicts the density of the peaks that studies with such a text report (Dockès et "
        "al., 2018).",
        _model(about),
        *([FORMULAS[kind], _reading(options), SHOWN] if formula is None else [formula]),
        f"Regions are those of {atlas}{' (Rolls et al., 2020)' if atlas == AAL3 else ''}.",
    ]
    return cite(" ".join(filter(None, [*parts, also])), about.get("date"))


def cite(text: str, date: str | None = None) -> MethodsText:
    """Add the references that a paragraph names; the date is that of the software."""
    unused = {key for key, words in CITED.items() if words not in text}
    entries = [found[0] for found in ENTRY.finditer(_references()) if found[1] not in unused]
    bibtex = "\n\n".join(entries).replace("VERSION", release())
    return MethodsText(text, bibtex.replace("YEAR", str(date or "n.d.")[:4]))


@cache
def _references() -> str:
    return REFERENCES.read_text("utf-8")


def _is_neuroquery(about: Mapping[str, Any]) -> bool:
    return (about.get("origin") or {}).get("format") == "neuroquery"


def _model(about: Mapping[str, Any]) -> str:
    """Tell what the model was learned from; of one that is not known, nothing."""
    if not about.get("studies"):
        return ""
    source = " of NeuroQuery (Dockès et al., 2020)" if _is_neuroquery(about) else ""
    trained = f" on {about['date'][:10]}" if about.get("date") else ""
    edges = about.get("voxel_sizes_mm")
    grid = f"voxels of {' × '.join(f'{edge:g}' for edge in edges)} mm" if edges else "regions"
    return (
        f"The model was learned{trained} from the {about['peaks']:,} peaks and the texts of "
        f"{about['studies']:,} studies{source}; it knows {about['terms']:,} terms and has "
        f"{about['regions']:,} {grid}."
    )


def _reading(options: Mapping[str, Any]) -> str:
    words = [
        done if options.get(name, True) else undone for name, (done, undone) in READING.items()
    ]
    weight = options.get("hedge_weight", 1.0)
    if weight != 1:
        words.append(f"what is left open has the weight {weight:g}")
    return f"{words[0][:1].upper()}{words[0][1:]}, {', '.join(words[1:-1])} and {words[-1]}."
