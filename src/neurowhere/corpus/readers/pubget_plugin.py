"""Plug-in for pubget: `pubget run --neurowhere` ends by writing a neurowhere corpus.

pubget finds it by the entry point ``pubget.plugin_actions``.
"""

import argparse
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from neurowhere.exceptions import NeurowhereError

NAME = "neurowhere_corpus"
DESCRIPTION = "Write the extracted data as a corpus that neurowhere reads."


def actions() -> dict[str, list[Any]]:
    """Tell pubget what it gets: a step of `pubget run`, and a command."""
    return {"pipeline_steps": [CorpusStep()], "commands": [CorpusCommand()]}


def write_corpus(extracted: Path) -> tuple[Path, int]:
    """Write the corpus beside pubget's extracted data, in place of an earlier one.

    Returns
    -------
    tuple of Path and int
        The corpus folder, and pubget's exit code: what is wrong with the data is logged, so
        that the other steps of `pubget run` go on.
    """
    from pubget import ExitCode

    from neurowhere.corpus import read_corpus

    subset = extracted.name.removesuffix("_extractedData")
    folder = extracted.with_name(f"{subset}_neurowhereCorpus")
    log = logging.getLogger(__name__)
    try:
        corpus = read_corpus(extracted, format="pubget")
        corpus.save(folder, overwrite=True)
    except NeurowhereError as error:
        log.error("%s", error)
        return folder, int(ExitCode.ERROR)
    log.info("Wrote %s to %s", corpus, folder)
    return folder, int(ExitCode.COMPLETED)


class CorpusStep:
    """The last step of `pubget run`, if asked for as pubget's other optional steps are."""

    name = NAME
    short_description = DESCRIPTION

    def edit_argument_parser(self, argument_parser: argparse.ArgumentParser) -> None:
        """Add the option that asks for this step."""
        argument_parser.add_argument("--neurowhere", action="store_true", help=DESCRIPTION)

    def run(
        self, args: argparse.Namespace, previous_steps_output: Mapping[str, Path]
    ) -> tuple[Path | None, int]:
        """Write the corpus, or do nothing."""
        if not args.neurowhere:
            return None, 0
        return write_corpus(previous_steps_output["extract_data"])


class CorpusCommand:
    """`pubget neurowhere_corpus`, for data that have been extracted before."""

    name = NAME
    short_description = DESCRIPTION

    def edit_argument_parser(self, argument_parser: argparse.ArgumentParser) -> None:
        """Add the folder to read."""
        argument_parser.description = DESCRIPTION
        argument_parser.add_argument(
            "extracted_data_dir",
            type=Path,
            help="Directory created by pubget whose name ends with '_extractedData'. "
            "A sibling directory will be created to contain the corpus.",
        )

    def run(self, args: argparse.Namespace) -> int:
        """Write the corpus."""
        return write_corpus(args.extracted_data_dir)[1]
