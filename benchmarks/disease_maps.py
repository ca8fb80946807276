"""The paper's three maps of diseases from text alone, and one of a word that names no place.

    python benchmarks/disease_maps.py [SOURCES ...] -o FOLDER [--image PICTURE] [--unadjusted]

SOURCES are articles in any format that `neurowhere contrast` reads, such as the folder that pubget
writes; by default the unlabelled and the linked documents of the development data, and NeuroQuery's
titles, abstracts and keywords as counts (imported once beside the output). Prints what was found,
writes the page of `neurowhere contrast --terms`, and draws all maps below each other, on one scale.
Where less than 20 documents are about a disease, the answer is that they are not enough.
"""

import argparse
import warnings
from pathlib import Path

from PIL import Image

from neurowhere import contrast_documents, read_corpus
from neurowhere._tools.files import new_folder
from neurowhere.contrast import default_cache
from neurowhere.report.contrast import chance_words, draw_found, write_list
from setting import DATA, peak_memory_gib, print_table

TERMS = ["huntington", "parkinson*", "aphasi*", "antibody"]
SHOWN = 4  # regions
SMALLER, N_COLOURS = 2, 256  # of the picture


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", type=Path, nargs="*")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder to write")
    parser.add_argument("--cache", type=Path, default=default_cache())
    parser.add_argument("--image", type=Path, help="picture to write")
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
        ["documents that", "about it", "in passing", "found", "largest t", "largest ratio"],
        [describe(result) for result in results],
    )
    print(f"\n{results[0].about['documents']:,} documents; {chance_words(results[0].about)}")
    print(f"peak memory: {peak_memory_gib():.1f} GiB")
    with new_folder(arguments.output, overwrite=True) as folder:
        write_list(results, folder, keep_formulas=False)
    if arguments.image:
        stack([draw_found(result) for result in results]).save(arguments.image, optimize=True)


def development_data(counted):
    """Documents of several sources; NeuroQuery's counts are imported once to a folder."""
    if not counted.exists():
        read_corpus(DATA / "corpus", format="neuroquery").save(counted)
    return [DATA / "unlabelled", DATA / "corpus" / "rawtext_linked_dev.jsonl.gz", counted]


def describe(result):
    about, regions = result.about, result.regions().head(SHOWN)
    found = result.outcome if about["tested"] else "not enough documents"
    return [
        result.group,
        about["documents_in_group"],
        about["documents_in_passing"],
        found,
        ", ".join(regions["region"]) if about["tested"] else "",
        f"{regions['ratio'].max():.2f}" if about["tested"] else "",
    ]


def stack(pictures):
    """Put pictures below each other, of a size and of colours that a page can hold."""
    width = max(picture.width for picture in pictures)
    whole = Image.new("RGB", (width, sum(picture.height for picture in pictures)), "white")
    top = 0
    for picture in pictures:
        whole.paste(picture.convert("RGB"), (0, top))
        top += picture.height
    small = whole.resize((whole.width // SMALLER, whole.height // SMALLER), Image.LANCZOS)
    return small.quantize(N_COLOURS, dither=Image.Dither.NONE, kmeans=3)


if __name__ == "__main__":
    main()
