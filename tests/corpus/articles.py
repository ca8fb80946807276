"""Small JATS articles, and pubget's own steps run on them."""

import json
import warnings
from pathlib import Path

PEAKS = [(-42.0, 20.0, 8.0), (36.5, -60.0, 48.0)]
# What a reader must not follow; it would leave this word, or these coordinates, in a document.
SECRET = "xyzzy"
SECRET_TABLE = (
    f"<table><thead><tr><th>x</th><th>y</th><th>z</th><th>{SECRET}</th></tr></thead>"
    "<tbody><tr><td>11</td><td>22</td><td>33</td><td>a</td></tr></tbody></table>"
)


def table(peaks: list[tuple[float, float, float]] = PEAKS) -> str:
    rows = "".join(
        f"<tr><td>insula</td>{''.join(f'<td>{value}</td>' for value in peak)}</tr>"
        for peak in peaks
    )
    head = "<tr><th>Region</th><th>x</th><th>y</th><th>z</th></tr>"
    return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"


def article(
    *,
    ids: str = '<article-id pub-id-type="pmc">77</article-id>',
    body: str = "We normalised to MNI space.",
    tables: str | None = None,
    doctype: str = "",
    attribute: str = "",
) -> str:
    if tables is None:
        tables = table()
    return f"""<?xml version="1.0" encoding="UTF-8"?>{doctype}
    <article xmlns:xlink="http://www.w3.org/1999/xlink">
      <front>
        <journal-meta><journal-id journal-id-type="nlm-ta">J Pain</journal-id></journal-meta>
        <article-meta>{ids}
          <title-group><article-title>Pain in the <i>insula</i></article-title></title-group>
          <pub-date><year>2019</year></pub-date>
          <abstract><p>Pain hurts.</p></abstract>
          <kwd-group><kwd>pain</kwd><kwd>fMRI</kwd></kwd-group>
        </article-meta>
      </front>
      <body><sec><title>Methods</title><p {attribute}>{body}</p>
        <table-wrap id="T1"><label>Table 1</label>{tables}</table-wrap>
      </sec></body>
    </article>"""


def articleset(*articles: str) -> str:
    inner = "".join(each[each.index("<article") :] for each in articles)
    return f"<pmc-articleset>{inner}</pmc-articleset>"


def numbered(number: int, pmid: int | None = None) -> str:
    ids = f'<article-id pub-id-type="pmc">{number}</article-id>'
    if pmid is not None:
        ids += f'<article-id pub-id-type="pmid">{pmid}</article-id>'
    return article(ids=ids)


def write_articleset(query: Path, text: str) -> Path:
    """Lay out a query's folder as `pubget download` leaves it."""
    folder = query / "articlesets"
    folder.mkdir(parents=True)
    (folder / "articleset_00000.xml").write_text(text, encoding="utf-8")
    info = {"name": "download", "is_complete": True}
    (folder / "info.json").write_text(json.dumps(info), encoding="utf-8")
    return folder


def run_pubget(query: Path, text: str, **options: bool) -> Path:
    """Extract articles and their data with pubget, as `pubget run` does; return the folder."""
    import pubget

    if not query.exists():
        write_articleset(query, text)
    with warnings.catch_warnings():
        # pubget 0.0.9 on pandas 3.1; as errors, they would cost it the coordinates unseen.
        warnings.filterwarnings("ignore", category=DeprecationWarning, module=r"pubget\.")
        articles, _ = pubget.extract_articles(query / "articlesets")
        extracted, _ = pubget.extract_data_to_csv(articles, **options)
    return extracted
