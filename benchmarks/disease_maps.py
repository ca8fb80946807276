"""The paper's three maps of diseases from text alone, and one of a word that names no place.

    python benchmarks/disease_maps.py [SOURCES ...] -o FOLDER [--maps FILE] [--unadjusted]

SOURCES are articles in any format that `neurowhere contrast` reads, such as the folder that pubget
writes; by default the unlabelled and the linked documents of the development data, and NeuroQuery's
titles, abstracts and keywords as counts (imported once beside the output). Prints what was found,
writes the page of `neurowhere contrast --terms`, and to --maps what `paper_figures.py` draws. Where
less than 20 documents are about a disease, the answer is that they are not enough.
"""

import argparse
import warnings
from pathlib import Path

from neurowhere import contrast_documents, read_corpus
from neurowhere._tools.files import new_folder
from neurowhere.contrast import default_cache
from neurowhere.report.contrast import chance_words, found_values, title_found, write_list
from paper_maps import write_maps
from setting import DATA, peak_memory_gib, print_table

TERMS = ["huntington", "parkinson*", "aphasi*", "antibody"]
SHOWN = 4  # regions


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", type=Path, nargs="*")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder to write")
    parser.add_argument("--cache", type=Path, default=default_cache())
    parser.add_argument("--maps", type=Path, help="file of maps and regions to write")
    parser.add_argument("--unadjusted", action="store_true", help="the plain ratio")
    parser.add_argument("--jobs", type=int, default=-1, help="cores")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    results = contrast_documents(
        arguments.sources or development_data(arguments.output.with_name("neuroquery_dev")),
        TERMS,
        unadjusted=arguments.unadjusted,
        cache=arguments.cache,
        n_jobs=arguments.jobs,
    )
    print_table(
        ["documents that", "about it", "in passing", "found", "largest t", "largest ratios"],
        [describe(result) for result in results],
    )
    print(f"\n{results[0].about['documents']:,} documents; {chance_words(results[0].about)}")
    print(f"peak memory: {peak_memory_gib():.1f} GiB")
    with new_folder(arguments.output, overwrite=True) as folder:
        write_list(results, folder, keep_formulas=False)
    if arguments.maps:
        maps = [found_values(result) for result in results]
        write_maps(arguments.maps, [about(result) for result in results], maps)


def development_data(counted):
    """Documents of several sources; NeuroQuery's counts are imported once to a folder."""
    if not counted.exists():
        read_corpus(DATA / "corpus", format="neuroquery").save(counted)
    return [DATA / "unlabelled", DATA / "corpus" / "rawtext_linked_dev.jsonl.gz", counted]


def describe(result):
    known, regions, raised = result.about, result.regions().head(SHOWN), result.most_raised()
    raised = raised.head(SHOWN)
    found = result.outcome if known["tested"] else "not enough documents"
    return [
        result.group,
        known["documents_in_group"],
        known["documents_in_passing"],
        found,
        ", ".join(regions["name"]) if known["tested"] else "",
        ", ".join(raised["name"]),
    ]


def about(result):
    """Return what the figure says of a contrast: its title, and the regions raised most."""
    shown = result.most_raised()[["region", "name", "ratio", "low", "high", "passes"]]
    return {"title": title_found(result), "regions": shown.to_dict("records")}


if __name__ == "__main__":
    main()
