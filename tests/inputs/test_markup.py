"""The prose of web pages and articles: what surrounds it is left out, whatever the page."""

import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from neurowhere.corpus.readers import jats
from neurowhere.inputs.prose import article_to_text, html_to_text

PROSE = "Conditioned fear activated the left amygdala and the anterior insula of all subjects. "
SIZE = 25_000  # characters of a page that is timed
NOISE_SECONDS = 0.2


def paragraphs(page: str) -> list[str]:
    return html_to_text(page).split("\n\n")


def test_blocks_are_paragraphs() -> None:
    page = """<!doctype html><html><head><title>Fear</title><style>p {color: red}</style>
    <script>if (a < b) { "thalamus" }</script></head><body><h1>A&nbsp;case</h1>
    <p>Left <em>amyg</em>dala &lt;3<br>and
    insula<!-- hippocampus --></p><?php thalamus ?>"""
    assert paragraphs(page) == ["Fear", "A case", "Left amygdala <3", "and insula"]


@pytest.mark.parametrize(
    "around",
    [
        "<nav>{}</nav>",
        "<footer><p>{}</p></footer>",
        "<aside>{}</aside>",
        "<header><ul><li>{}</li></ul></header>",
        "<form>{}<button>{}</button></form>",
        "<div role='navigation'>{}</div>",
        "<div class='wide ref-list'>{}</div>",
        "<ol id='references'><li>{}</li></ol>",
        "<h2>References</h2><ol><li>{}</li></ol>",
        "<h3>5. Literature cited</h3><h4>A</h4><p>{}</p>",
        "<table><tr><td>{}</td><td>-22</td><td>-4</td></tr></table>",
        "<svg><text>{}</text></svg>",
    ],
)
def test_what_surrounds_the_prose_is_left_out(around: str) -> None:
    page = f"<p>{PROSE}</p>{around.replace('{}', 'thalamus')}<h2>After</h2><p>The end.</p>"
    assert paragraphs(page) == [PROSE.strip(), "After", "The end."]
    assert "thalamus" not in html_to_text(page.replace("</", "<//", 1))  # nor if it is broken


def test_the_main_part_stands_for_the_page() -> None:
    main = f"<header><h1>Fear</h1></header><p>{PROSE * 3}</p>"
    for page in (f"<main>{main}</main>", f"<div role='main'>{main}</div>", f"<article>{main}"):
        assert paragraphs(f"<div>Our journal</div>{page}")[-2:] == ["Fear", (PROSE * 3).strip()]
    assert paragraphs(f"<div>Our journal</div><main>{main}</main><p>Login") == [
        "Fear",
        (PROSE * 3).strip(),
    ]
    assert paragraphs("<p>All of it</p><main>Short</main>") == ["All of it", "Short"]


def test_tables_that_lay_out_a_page_are_no_tables_of_data() -> None:
    data = "<table><tr><th>Region<th>x<tr><td>thalamus<td>-8</table>"
    page = f"<table><tr><td><p>{PROSE * 4}</p>{data}</td></tr></table>"
    assert paragraphs(page) == [(PROSE * 4).strip()]


def test_a_page_with_the_class_of_its_layout_is_read() -> None:
    assert paragraphs(f"<body class='sidebar'><p>{PROSE}</p>") == [PROSE.strip()]


@pytest.mark.parametrize("page", ["", "<", "<p", "<script>", "</style></p>", "&#xffffffff;<![x"])
def test_broken_pages_are_no_crash(page: str) -> None:
    assert isinstance(html_to_text(page), str)


@given(st.text(st.sampled_from("<>/!-'\"=&;a pthdr1\n\0\ud800é"), max_size=200))
def test_any_page_is_read(page: str) -> None:
    assert "  " not in html_to_text(page).replace("\n", "")


@given(
    st.lists(
        st.sampled_from(["nav", "table", "td", "h1", "h2", "p", "main", "div", "article"]),
        max_size=30,
    )
)
def test_tags_in_any_order_are_read(tags: list[str]) -> None:
    page = "".join(f"<{tag}>" if i % 3 else f"x</{tag}>" for i, tag in enumerate(tags))
    assert isinstance(html_to_text(page), str)


@pytest.mark.parametrize(
    "piece",
    [
        "<a ='",
        "<a",
        "<",
        "<!--",
        "<![",
        "<div>",
        "<table><tr><td>",
        "<h1>References",
        "<h1>a</h1>",
        "<p class='",
        "&amp",
        "<b>a</b>",
        "<table><tr><td>" + PROSE * 5,
    ],
)
def test_no_page_takes_more_than_linear_time(piece: str) -> None:
    few, many = (cpu_seconds(piece * (size // len(piece))) for size in (SIZE, 4 * SIZE))
    assert many < 8 * few + NOISE_SECONDS  # in quadratic time, 16 times as long


def cpu_seconds(page: str) -> float:
    """Return the least of three times: garbage of other tests may be collected in one of them."""
    times = []
    for _ in range(3):
        start = time.process_time()
        html_to_text(page)
        times.append(time.process_time() - start)
    return min(times)


ARTICLE = """<article xmlns:xlink="http://www.w3.org/1999/xlink"><front><article-meta>
<title-group><article-title>Fear in the <italic>left</italic> amygdala</article-title>
<alt-title alt-title-type="running-head">FEAR</alt-title></title-group>
<abstract><title>Abstract</title><p>We saw
 it.</p></abstract><kwd-group><kwd>fear</kwd><kwd>fMRI</kwd></kwd-group></article-meta></front>
<body><sec><label>1</label><title>Results</title><p>The amygdala <xref>(Bell, 2001)</xref>
responded<sup>2</sup>.<disp-formula><tex-math>thalamus</tex-math></disp-formula></p>
<fig><label>Figure 1</label><caption><p>Activation.</p></caption></fig>
<table-wrap><caption><p>Peaks</p></caption><table><tr><td>thalamus</td><td>-22</td></tr></table>
</table-wrap></sec></body>
<back><ack><p>thalamus</p></ack><ref-list><ref>thalamus</ref></ref-list></back></article>"""


def test_an_article_is_its_prose() -> None:
    assert article_to_text(etree.fromstring(ARTICLE)).split("\n\n") == [
        "Fear in the left amygdala",
        "Abstract",
        "We saw it.",
        "fear; fMRI;",
        "Results",
        "The amygdala responded2.",
        "Activation.",
    ]


def test_an_article_nested_without_end_is_read() -> None:
    deep = f"<article><body>{'<sec>' * 200}fear{'</sec>' * 200}</body></article>"
    assert article_to_text(etree.fromstring(deep)) == "fear"


def test_real_articles_lose_their_tables(data: Path) -> None:
    files = sorted((data / "jats" / "pmc_with_expected").rglob("*.xml"))
    assert files
    n_cells = n_found = 0
    for file in files:
        for article in jats.iter_articles(file):
            text = article_to_text(article)
            assert len(text) > 5_000
            rows = [row for row in article.iter("tr") if len(row) > 3]
            contents = [" ".join("".join(row.itertext()).split()) for row in rows]
            long = [content for content in contents if len(re.findall(r"\d", content)) > 5]
            n_cells += len(long)
            n_found += sum(content in text for content in long)
    assert n_cells > 100
    assert n_found == 0
