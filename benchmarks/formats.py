"""Measure how much the map of an article depends on the format of its file.

Each article in JATS is written as plain text in three layouts, HTML, Word and PDF, with the same
headings, captions and references. The table has the total-variation distance over AAL3 of each map
to that of the HTML page: median and maximum.

    python benchmarks/formats.py ../data/jats --texts ../data/corpus/fulltext_dev.jsonl.xz

Articles of `--texts` follow those in JATS until there are enough: each line is a paragraph, and a
line that is the name of a section is a heading.
"""

import argparse
import html
import json
import lzma
import re
import shutil
import tempfile
import textwrap
from pathlib import Path

import numpy as np
from lxml import etree

from neurowhere import default_atlas, load_model
from neurowhere.inputs import read_text
from neurowhere.report.tables import to_markdown

LEAST_CHARACTERS = 15_000  # of an article
WIDTH = 80  # characters of a line
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
HEADING = re.compile(
    r"(?:\d\.? )?(?:abstract|(?:general )?introduction|background|(?:materials? and )?methods?"
    r"|results(?: and discussion)?|(?:general )?discussion|conclusions?|references)",
    re.IGNORECASE,
)
FORMATS = {
    "txt": "plain text, a blank line between paragraphs",
    "md": "plain text, a paragraph a line",
    "text": "plain text, lines of 80 characters",
    "html": "HTML",
    "docx": "Word",
    "pdf": "PDF (printed by Chromium)",
}


def words_of(element):
    """Return the text in an element."""
    return "" if element is None else " ".join("".join(element.itertext()).split())


def blocks_of(file):
    """Return an article as headings (h1, h2...), paragraphs, captions and references."""
    root = etree.parse(file).getroot()
    article = root if root.tag == "article" else root.find(".//article")
    blocks = [("h1", words_of(article.find(".//article-title")))]
    abstract, body = article.find(".//abstract"), article.find("body")
    if abstract is not None:
        blocks += [("h2", "Abstract"), *(("p", words_of(each)) for each in abstract.iter("p"))]
    if body is not None:
        add_section(body, 2, blocks)
    references = [words_of(each) for each in article.iter("ref")]
    numbered = [("ref", f"{number}. {each}") for number, each in enumerate(references, start=1)]
    blocks += [("h2", "References"), *numbered] if numbered else []
    return [block for block in blocks if block[1]]


def add_section(section, level, blocks):
    """Add what a section holds, in order."""
    for child in section:
        if child.tag == "title":
            blocks.append((f"h{level - 1}", words_of(child)))
        elif child.tag == "p":
            blocks.append(("p", words_of(child)))
        elif child.tag == "sec":
            add_section(child, min(level + 1, 6), blocks)
        elif child.tag == "fig":
            caption = f"{words_of(child.find('label'))} {words_of(child.find('caption'))}"
            blocks.append(("caption", caption.strip()))


def blocks_of_text(text):
    """Return an article of plain text as headings and paragraphs."""
    lines = [" ".join(line.split()) for line in text.split("\n")]
    return [("h2" if HEADING.fullmatch(line) else "p", line) for line in lines if line]


def read_articles(folder, texts):
    """Yield articles as blocks."""
    yield from map(blocks_of, sorted(folder.rglob("*.xml")))
    if texts is not None:
        with lzma.open(texts, "rt", encoding="utf-8") as lines:
            yield from (blocks_of_text(json.loads(line)["text"]) for line in lines)


def page_of(blocks):
    """Return an article as a web page."""
    tags = {"caption": "figcaption", "ref": "li"}
    parts = [
        f"<{tags.get(kind, kind)}>{html.escape(text)}</{tags.get(kind, kind)}>"
        for kind, text in blocks
    ]
    return f"<!doctype html><meta charset=utf-8><article>{''.join(parts)}</article>"


def write(blocks, folder, page):
    """Write an article in all formats; a page of a browser prints it, if there is one."""
    import docx

    texts = [text for _, text in blocks]
    layouts = {
        "txt": "\n\n".join(texts),
        "md": "\n".join(texts),
        "text": "\n\n".join(textwrap.fill(text, WIDTH) for text in texts),
        "html": page_of(blocks),
    }
    for suffix, content in layouts.items():
        (folder / f"article.{suffix}").write_text(content, "utf-8")
    document = docx.Document()
    for kind, text in blocks:
        if kind.startswith("h"):
            document.add_heading(text, int(kind[1]))
        else:
            document.add_paragraph(text)
    document.save(folder / "article.docx")
    if page is not None:
        page.set_content(layouts["html"])
        page.pdf(path=folder / "article.pdf")


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("articles_in", type=Path)
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--articles", type=int, default=100)
    parser.add_argument("--without-pdf", action="store_true")
    given = parser.parse_args()
    from playwright.sync_api import sync_playwright

    model, atlas = load_model(), default_atlas()
    formats = [suffix for suffix in FORMATS if suffix != "pdf" or not given.without_pdf]
    distances = {suffix: [] for suffix in formats}
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as temporary:
        page, folder = None, Path(temporary)
        if not given.without_pdf:
            path = next(filter(None, map(shutil.which, BROWSERS)))
            arguments = ["--no-sandbox", "--headless"]
            page = playwright.chromium.launch(executable_path=path, args=arguments).new_page()
        for blocks in read_articles(given.articles_in, given.texts):
            if sum(len(text) for _, text in blocks) < LEAST_CHARACTERS:
                continue
            write(blocks, folder, page)
            maps = {
                suffix: model.encode(read_text(str(folder / f"article.{suffix}")).content)
                .regions(atlas)
                .set_index("region")["probability"]
                for suffix in formats
            }
            for suffix, found in maps.items():
                distances[suffix].append(float((found - maps["html"]).abs().sum()) / 2)
            if len(distances["html"]) == given.articles:
                break
    rows = [
        [FORMATS[suffix], f"{np.median(each):.3f}", f"{max(each):.3f}", str(len(each))]
        for suffix, each in distances.items()
    ]
    print(to_markdown(["format", "median", "maximum", "articles"], rows), end="")


if __name__ == "__main__":
    main()
