"""Targets: every parser and reader, each as a function of bytes, with inputs that are nearly right.

Where a reader takes several files, the first byte of an input says which of them is damaged.
"""

import asyncio
import html
import io
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
from hypothesis import strategies as st
from scipy import sparse

from fuzz.alter import (
    ENDS,
    Bytes,
    altered_arrays,
    altered_json,
    altered_table,
    cut,
    ended,
    prose,
    texts,
    values,
)
from fuzz.attempt import Call
from neurowhere import Atlas, Encoder, VoxelGrid, load_model, read_corpus, save_model
from neurowhere._tools.files import sha256
from neurowhere.contrast.query import Query
from neurowhere.contrast.query import _Texts as Library
from neurowhere.corpus import Corpus, Document
from neurowhere.corpus.coordinates import read_spaces
from neurowhere.corpus.folder import write as write_corpus
from neurowhere.inputs import Text, iter_texts, read_text, split_sentences
from neurowhere.inputs.prose import html_to_text, pdf_to_text
from neurowhere.inputs.sources import as_path
from neurowhere.model.decoding import decode
from neurowhere.model.store import verify_model
from neurowhere.model.summary import summarise
from neurowhere.report.page import highlight
from neurowhere.report.tables import RowMaker, encode_items
from neurowhere.text import Vocabulary, words_of_label
from neurowhere.text.language import is_foreign
from neurowhere.text.reading.mentions import read_mentions
from neurowhere.text.words import plain, plain_with_origin, token_spans

CLINICAL = re.split(
    r"\s+",
    """left right bilateral L R no not without nor denies negative for spared normal ruled out
    lesion infarct in of the and or but except hand weakness neglect aphasia amygdala insula
    thalamus frontal gyrus cortex hippo campus MCA territory BA 44 lobule VI a an pre disease fMRI
    Dr. e.g. Huntington's patient with is are was showed 2 mm (left) [ ] : – — “ ” ’""",
)
OPERATORS = ["AND", "OR", "NOT", "(", ")", '"', "*", "/", "/i", "aphasi*", r"/\bHD\b/", "/(a|b)+c/"]
EXPRESSIONS = [
    *("(", ")", "(?:", "(?#c)", "(?x)", "(?i:", "(?=", "(?<=", "(?P<n>", "|", "^", "$"),
    *("a", "b", " ", ".", r"\w", r"\b", r"\1", "[ab]", "[^a]", "a*", "(a+)", "(a?)", "(a|aa)"),
    *("*", "+", "?", "{8}", "{2,}", "{90}", "{,3}", "{e}"),
]
SAMPLE = [
    f"Huntington's disease (HD), Huntington{' a' * 40} chorea",
    *("aphasia " * 9, "", "<b>", "a" * 40 + "!", "a" * 300 + "cb"),
]
PUNCTUATION = ["\n", "\t", ",", '"', "|", "null", "[]", "{}", "nan", "1e999", "\\ud800", "id"]
TAG = re.compile(r"<[^>]*>")
PLACES = {"amygdala": (-22, -4, -18), "visual cortex": (8, -92, 2), "left insula": (-38, 6, 2)}


@dataclass(frozen=True)
class Target:
    """A parser or reader.

    Attributes
    ----------
    name : str
    call : callable
        Takes bytes; succeeds or raises an error of ours.
    structured : strategy
        Inputs that are nearly right.
    seeds : sequence of bytes
        Right ones, whose bytes are changed.
    words : sequence of str
        What may be put into them.
    """

    name: str
    call: Call
    structured: Bytes
    seeds: Sequence[bytes]
    words: Sequence[str] = ()


def of_text(call: Callable[[str], object]) -> Call:
    """Make a target of a function of a text."""
    return lambda data: call(data.decode("utf-8", "replace"))


def encoded(text: st.SearchStrategy[str]) -> Bytes:
    """Texts in UTF-8."""
    return text.map(lambda found: found.encode("utf-8", "replace"))


# ---- text


def read_tokens(text: str) -> None:
    """Cut a text into tokens, two ways that have to agree."""
    known = {"hippocampus", "prefrontal"}.__contains__
    tokens, origin = plain_with_origin(text, known)
    assert tokens == plain(text, known, keep_case=True)
    assert origin is None or len(origin) == len(tokens)
    token_spans(tokens)


def read_prose(text: str) -> None:
    """Find terms, sides, negations and sentences; all have to lie within the text."""
    counter = shipped_model().extractor_.counter
    mentions = read_mentions(text, counter)
    for mention in (*mentions, *mentions.places):
        assert 0 <= mention.start < mention.end <= len(text)
    split_sentences(Text("a", text), counter)
    is_foreign(text)


def encode_prose(text: str) -> None:
    """Encode and mark up; without the marks, the page has to show the text and nothing else."""
    encoding = small_model().encode(text)
    assert html.unescape(TAG.sub("", highlight(encoding))) == text
    assert encoding.probabilities.min() >= 0
    assert abs(float(encoding.probabilities.sum()) - 1) < 1e-3


def answer_each_way(text: str) -> None:
    """Read a text through each interface, beside others; neurowhere may fail on none of them."""
    read_prose(text)
    items = [Text(str(number), each) for number, each in enumerate(["amygdala", text, ""])]
    pairs = list(encode_items(small_model(), items))
    table = RowMaker(small_atlas(), all_regions=True, with_text=True).table(pairs)
    assert not table["problem"].str.contains("failed").any()
    for encoding in small_model().encode_many([text, "", text]):
        assert encoding.problem is None
        summarise(encoding, small_atlas())
    query = {"texts": ["amygdala", text], "regions": 2}
    for number, body in ((0, {"text": text, "sentences": True}), (1, query)):
        post(bytes([number]) + as_json(body))


def ask(text: str) -> None:
    """Read a query and put it to some texts."""
    Query(text).mentions(sample())


def ask_expression(text: str) -> None:
    """Read a regular expression and put it to some texts."""
    ask(f"/{text}/i")


@cache
def sample() -> Library:
    """Index some texts."""
    return Library(SAMPLE)


def read_argument(text: str) -> None:
    """Read a page, and an argument of the command line."""
    html_to_text(text)
    as_path(text)


@cache
def shipped_model() -> Encoder:
    """Give the model that the package ships."""
    return load_model()


@cache
def small_model() -> Encoder:
    """Fit a model of few voxels."""
    names = [*PLACES] * 9
    return Encoder(VoxelGrid(16), "l2", vocabulary=[*PLACES], min_studies=1).fit(
        names, [[PLACES[name]] for name in names]
    )


@cache
def small_atlas() -> Atlas:
    """Make an atlas of two regions."""
    labels = np.zeros((7, 6, 5), np.uint8)
    labels[1:3], labels[4:6] = 2, 201
    affine = np.diag([-30.0, 35.0, 30.0, 1.0])
    affine[:3, 3] = 90, -120, -60
    return Atlas(nibabel.Nifti1Image(labels, affine), {2: "Insula_L", 201: "Insula_R"})


# ---- files


def scratch() -> Path:
    """Return a folder of this process for what is read; it may have been removed after a test."""
    folder = _scratch()
    folder.mkdir(exist_ok=True)
    return folder


@cache
def _scratch() -> Path:
    memory = Path("/dev/shm")
    return Path(tempfile.mkdtemp(prefix="fuzz-", dir=memory if memory.is_dir() else None))


def of_file(suffixes: Sequence[str], read: Callable[[Path], object]) -> Call:
    """Make a target of a function of a file; the first byte chooses its suffix."""

    def call(data: bytes) -> None:
        path = scratch() / f"input{suffixes[_first(data) % len(suffixes)]}"
        path.write_bytes(data[1:])
        try:
            read(path)
        finally:
            path.unlink()

    return call


def of_folder(files: Mapping[str, bytes], read: Callable[[Path], object], *, seal: bool) -> Call:
    """Make a target of a function of a folder, one file of which is changed.

    With `seal`, info.json gets the checksums of what is there, as a forger would write them.
    """

    def call(data: bytes) -> None:
        folder = scratch() / "folder"
        folder.mkdir()
        try:
            changed = sorted(files)[_first(data) % len(files)]
            for name, content in files.items():
                (folder / name).write_bytes(data[1:] if name == changed else content)
            if seal and changed != "info.json":
                _seal(folder)
            read(folder)
        finally:
            shutil.rmtree(folder)

    return call


def _first(data: bytes) -> int:
    return data[0] if data else 0


def _seal(folder: Path) -> None:
    info = json.loads((folder / "info.json").read_text())
    info["sha256"] = {name: sha256(folder / name) for name in info["sha256"]}
    (folder / "info.json").write_text(json.dumps(info))


def chosen(number: int, content: Bytes) -> Bytes:
    """Make inputs whose first byte chooses a file."""
    return content.map(lambda data: bytes([number]) + data)


def seeds_of(files: Mapping[str, bytes]) -> list[bytes]:
    """Each file of a folder, with the byte that chooses it."""
    return [bytes([number]) + files[name] for number, name in enumerate(sorted(files))]


def alterations(files: Mapping[str, bytes]) -> Bytes:
    """Alterations of each file of a folder, by what its name ends in."""
    return st.one_of(
        *(
            chosen(number, _alteration(name, files[name]))
            for number, name in enumerate(sorted(files))
        )
    )


def _alteration(name: str, content: bytes) -> Bytes:
    if name.endswith(".json"):
        return altered_json(json.loads(content))
    if name.endswith((".csv", ".tsv")):
        delimiter = "\t" if name.endswith(".tsv") else ","
        lines = content.decode().splitlines()
        return altered_table([line.split(delimiter) for line in lines], delimiter)
    if name.endswith(".npz"):
        with np.load(io.BytesIO(content)) as arrays:
            return altered_arrays(dict(arrays))
    return st.one_of(cut(content), encoded(texts), encoded(prose(CLINICAL)))


def files_of(write: Callable[[Path], object]) -> dict[str, bytes]:
    """Give the files that something writes into a new folder."""
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent, "folder")
        write(folder)
        return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


# ---- corpora

RECORD = {
    "pmid": 7,
    "title": "Fear and the amygdala",
    "abstract": "We saw the left amygdala respond. Fear was high.",
    "text": "Fear and the amygdala. We saw the left amygdala respond. And more.",
    "coords": [[-22, -4, -18], [22.5, -4, -18]],
    "space": "TAL",
    "year": 2010,
    "authors": ["A", "B"],
}
STUDYSET = {
    "id": "s",
    "studies": [
        {
            "id": "1",
            "name": "Fear",
            "pmid": "7",
            "metadata": {"year": 2001},
            "analyses": [
                {
                    "name": "a > b",
                    "points": [
                        {"coordinates": [1, 2, 3], "space": "MNI"},
                        {"coordinates": [4, 5, 6], "space": "TAL"},
                    ],
                    "texts": {"body": "amygdala"},
                }
            ],
        }
    ],
}
DATASET = {
    "7": {
        "contrasts": {
            "1": {
                "coords": {"space": "MNI", "x": [1, 2], "y": [3, 4], "z": [5, 6]},
                "text": {"abstract": "fear"},
                "metadata": {"year": 2001},
            }
        }
    }
}
METADATA = "id\ttitle\tspace\n1\tFear\tMNI\n2\tPain\tTAL\n"
PEAKS = "table_id\tid\tx\ty\tz\n1\t1\t-22\t-4\t-18\n2\t2\t8\t-92\t2\n"
PUBGET = {
    "metadata.csv": b"pmcid,pmid,doi,title,journal,publication_year,license\n1,11,10/x,T,J,2019,\n",
    "text.csv": b"pmcid,title,keywords,abstract,body\n1,Fear,,The amygdala.,More.\n",
    "coordinates.csv": b"pmcid,table_id,table_label,x,y,z\n1,t,T,-22.0,-4.0,-18.0\n",
    "coordinate_space.csv": b"pmcid,coordinate_space\n1,MNI\n",
}
ARTICLE = """<?xml version="1.0"?><article><front><article-meta>
<article-id pub-id-type="pmc">77</article-id>
<title-group><article-title>Pain in the <i>insula</i></article-title></title-group>
<pub-date><year>2019</year></pub-date><abstract><p>Pain hurts.</p></abstract></article-meta></front>
<body><sec><p>MNI space</p><table-wrap id="T1"><label>1</label><table><thead><tr><th>x</th>
<th>y</th><th>z</th></tr></thead><tbody><tr><td>-42</td><td>20</td><td>8</td></tr></tbody></table>
</table-wrap></sec></body></article>"""
XML = [
    "<article>",
    "</article>",
    "<td>",
    '<td colspan="9">',
    "&lt;",
    "&x;",
    "<!DOCTYPE a [",
    "<?a?>",
]
PDF = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R
/Resources<</Font<</F1 5 0 R>>>>>>endobj
4 0 obj<</Length 36>>stream
BT /F1 9 Tf (left amygdala) Tj ET
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
xref
0 1
0000000000 65535 f
trailer<</Size 6/Root 1 0 R>>
startxref
0
%%EOF"""
PDF_WORDS = [
    "obj",
    "endobj",
    "stream",
    "endstream",
    "<<",
    ">>",
    "/Kids[2 0 R]",
    "/Length 9999999999",
]


def corpus_files() -> dict[str, bytes]:
    """Write a corpus with texts and counts."""
    documents = [
        Document("1", {"title": "Fear", "abstract": "amygdala"}, np.array([[1.0, 2, 3]]), "MNI"),
        Document("2", {"body": "pain"}, metadata={"year": 2001}),
    ]
    corpus = Corpus.from_documents(documents)
    counts = {"body": sparse.csr_matrix(np.array([[1, 0, 2], [0, 3, 0]], np.int32))}
    both = Corpus(corpus.documents, corpus.peaks, corpus.sections, counts, ["a", "b", "c"])
    return files_of(lambda folder: write_corpus(both, folder))


def neuroquery_files() -> dict[str, bytes]:
    """Make the files of a release of two studies and three terms."""
    stream = io.BytesIO()
    sparse.save_npz(stream, sparse.csr_matrix(np.array([[1, 0, 2], [0, 3, 0]])), compressed=False)
    return {
        "a-neuroquery_coordinates.tsv": PEAKS.encode(),
        "a-neuroquery_metadata.tsv": METADATA.encode(),
        "a-neuroquery_source-title_type-count_features.npz": stream.getvalue(),
        "a-neuroquery_vocabulary.txt": b"fear\npain\ninsula\n",
    }


def neurosynth_files() -> dict[str, bytes]:
    """Make the files of a release of two studies."""
    return {
        "a-neurosynth_coordinates.tsv": PEAKS.encode(),
        "a-neurosynth_metadata.tsv": METADATA.encode(),
    }


def read_and_keep(path: Path) -> None:
    """Read a corpus and write it as a folder; what comes back has to be the same."""
    corpus = read_corpus(path)
    copy = path.with_name("copy")
    try:
        write_corpus(corpus, copy)
        again = read_corpus(copy, drop=())
    finally:
        shutil.rmtree(copy, ignore_errors=True)
    assert again.documents["id"].tolist() == corpus.documents["id"].tolist()
    assert again.texts == corpus.texts
    assert len(again.peaks) == len(corpus.peaks)


def read_input(path: Path) -> None:
    """Read what a user gives to ``neurowhere encode``."""
    list(iter_texts([str(path)]))
    read_text(str(path))


def read_pdf(path: Path) -> None:
    """Parse in this process, in which lines are traced and seconds are counted."""
    pdf_to_text(path.read_bytes(), path.name)


# ---- space and models


def nifti(data: np.ndarray[Any, Any]) -> bytes:
    """Make a NIfTI file."""
    affine = np.diag([-30.0, 35.0, 30.0, 1.0])
    affine[:3, 3] = 90, -120, -60
    return bytes(nibabel.Nifti1Image(data, affine).to_bytes())


@cache
def atlas_files() -> dict[str, bytes]:
    """Make an atlas and its labels."""
    labels = np.zeros((7, 6, 5), np.uint8)
    labels[1:3], labels[4:6] = 2, 201
    return {"atlas.nii": nifti(labels), "labels.csv": b"index,name\n2,Insula_L\n201,Insula_R\n"}


def read_atlas(folder: Path) -> None:
    """Read an atlas and use it."""
    atlas = Atlas(folder / "atlas.nii", folder / "labels.csv")
    atlas.region_of([[0, 0, 0], [-40, 0, 0]])
    assert len(atlas.names) == atlas.n_regions == len(atlas.volumes_mm3)
    [words_of_label(name) for name in atlas.names]


HEADER_BYTES = 348


@st.composite
def altered_header(draw: Callable[[Any], Any], content: bytes) -> bytes:
    """NIfTI file with odd numbers in some fields of its header."""
    header = np.frombuffer(content[:HEADER_BYTES], nibabel.nifti1.header_dtype).copy()
    for _ in range(draw(st.integers(1, 3))):
        field = header[draw(st.sampled_from(header.dtype.names))]
        if field.dtype.kind in "iuf":
            odd = [0, 1, 2, 3, 7, 8, 16, 64, 127, 512] + [32767, -1] * (field.dtype.kind != "u")
            odd += [np.nan, np.inf, 1e30] * (field.dtype.kind == "f")
            with np.errstate(all="ignore"):
                value = np.array(draw(st.sampled_from(odd))).astype(field.dtype)
            field.flat[draw(st.integers(0, field.size - 1))] = value
    data = header.tobytes() + content[HEADER_BYTES:]
    return draw(st.one_of(st.just(data), st.just(data), cut(data)))


def read_place(path: Path) -> None:
    """Decode a map, or peaks as JSON."""
    if path.suffix == ".nii":
        decode(small_model(), path)
        return
    try:
        place = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return
    decode(small_model(), place)


@cache
def model_files() -> dict[str, bytes]:
    """Write the small model."""
    return files_of(lambda folder: save_model(small_model(), folder))


def read_model(folder: Path) -> None:
    """Read a model, check it and let it encode."""
    verify_model(folder)
    load_model(folder).encode("the left amygdala")


# ---- HTTP

ENCODE = {"text": "No lesion in the left amygdala.", "at": [-22, -4, -18], "sentences": True}
ENCODE |= {"negation": True, "sides": True, "regions": 5, "resolution_mm": 8, "image": "mass"}
REQUESTS = [
    ("encode", "application/json", ENCODE),
    ("batch", "*/*", {"texts": ["amygdala", "insula"], "regions": 3}),
    ("contrast", "application/json", {"text": "amygdala", "other": "insula"}),
    ("term", "", {"name": "left insula"}),
    ("decode", "", {"points": [[-24, -4, -18]], "n": 5}),
    ("encode", "application/gzip", ENCODE),
    ("contrast.nii.gz", "", {"text": "amygdala", "other": "insula", "resolution_mm": 8}),
    ("encode.png", "", {"text": "amygdala", "image": "log_ratio"}),
]


@cache
def application() -> tuple[asyncio.AbstractEventLoop, Any]:
    """Make the server's application, and a loop to run it in."""
    from neurowhere.report.maps import draw_map
    from neurowhere.web.server import create_app

    draw_map(small_model().encode("amygdala").density_img)  # imports much, once
    return asyncio.new_event_loop(), create_app(small_model())


def post(data: bytes) -> None:
    """Send a body to one of the routes; no answer may be a failure of the server."""
    loop, app = application()
    route, accept, _ = REQUESTS[_first(data) % len(REQUESTS)]
    statuses: list[int] = []
    body = [{"type": "http.request", "body": data[1:], "more_body": False}]

    async def receive() -> Any:
        return body.pop() if body else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    headers = [(b"content-type", b"application/json"), (b"accept", accept.encode())]
    path = f"/api/v1/{route}"
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    loop.run_until_complete(app(scope, receive, send))
    if statuses[0] >= 500:
        raise AssertionError(f"status {statuses[0]} of {route}")


def bodies() -> Bytes:
    """Bodies that are nearly right for each route."""
    return st.one_of(
        *(chosen(number, altered_json(body)) for number, (_, _, body) in enumerate(REQUESTS)),
        encoded(prose(CLINICAL)).map(
            lambda text: b"\0" + json.dumps({"text": text.decode()}).encode()
        ),
    )


# ---- all


def text_targets() -> list[Target]:
    """Give the targets that take a text."""
    clinical = encoded(prose(CLINICAL))
    queries = [*OPERATORS, *CLINICAL]
    page = ["<p>", "</p>", "<script>", "<!--", "-->", "<![", "&#x0;", "&#", "a.txt", "~/b"]
    return [
        Target("tokens", of_text(read_tokens), clinical, [b"hippo-\ncampus"], CLINICAL),
        Target("terms, sides, negation", of_text(read_prose), clinical, [b"no left"], CLINICAL),
        Target("encode, highlight", of_text(encode_prose), clinical, [b"no <left>"], CLINICAL),
        Target("ends of texts", of_text(answer_each_way), encoded(ended()), [b"weakness "], ENDS),
        Target("queries", of_text(ask), encoded(prose(queries)), [b'(a OR "b") AND c*'], queries),
        Target(
            "expressions",
            of_text(ask_expression),
            encoded(st.lists(st.sampled_from(EXPRESSIONS), max_size=12).map("".join)),
            [rb"(?:\bHD\b )+", rb"(a+)(?#c)+b", rb"(?x)(a+) +b", rb"(((a?){8}){8}){8}b"],
            EXPRESSIONS,
        ),
        Target("HTML, arguments", of_text(read_argument), encoded(prose(page)), [b"<p>a"], page),
    ]


def file_targets() -> list[Target]:
    """Give the targets that take one file."""
    kinds = [".txt", ".md", ".html", ".xml", ".jsonl", ".csv", ".txt.gz", ".tsv"]
    clinical = encoded(prose(CLINICAL))
    any_kind = st.one_of(*(chosen(number, clinical) for number in range(len(kinds))))
    seeds = [bytes([number]) + b"<p>left amygdala" for number in range(len(kinds))]
    article = encoded(prose(XML)).map(lambda text: ARTICLE.encode().replace(b"hurts", text))
    cells = [json.dumps(cell) if isinstance(cell, list) else cell for cell in RECORD.values()]
    studies = st.one_of(altered_json(STUDYSET), altered_json(DATASET))
    terms = [["term", "category", "synonyms"], ["insula", "anatomy", "a|b"], ["fear", "", ""]]
    spaces = altered_table([["id", "space"], [1, "TAL"]], "\t")
    return [
        Target("files of texts", of_file(kinds, read_input), any_kind, seeds, CLINICAL),
        one_file("PDF", ".pdf", read_pdf, cut(PDF), [PDF], PDF_WORDS),
        one_file("JATS XML", ".xml", read_corpus, article, [ARTICLE.encode()], XML),
        one_file("JSON lines", ".jsonl", read_and_keep, altered_json(RECORD), [as_json(RECORD)]),
        one_file(
            "CSV", ".csv", read_and_keep, altered_table([[*RECORD], cells]), [b"id,text\n1,a"]
        ),
        one_file("NIMADS", ".json", read_corpus, studies, [as_json(STUDYSET), as_json(DATASET)]),
        one_file("tables of spaces", ".tsv", read_spaces, spaces, [b"id\tspace\n1\tMNI\n"]),
        one_file(
            "vocabularies", ".csv", Vocabulary.load, altered_table(terms), [b"term\ninsula\n"]
        ),
    ]


def one_file(
    name: str,
    suffix: str,
    read: Callable[[Path], object],
    content: Bytes,
    seeds: Sequence[bytes],
    words: Sequence[str] = PUNCTUATION,
) -> Target:
    """Make a target of a function of a file of one kind."""
    call = of_file([suffix], read)
    return Target(name, call, chosen(0, content), [b"\0" + seed for seed in seeds], words)


def folder_targets() -> list[Target]:
    """Give the targets that take a folder, or one of two files, and the server."""
    application()
    atlas, volume = atlas_files(), nifti(np.arange(210, dtype=np.float32).reshape(7, 6, 5))
    labels = altered_table([["index", "name"], [2, "Insula_L"], [201, "Insula_R"]])
    labelled = st.one_of(chosen(0, altered_header(atlas["atlas.nii"])), chosen(1, labels))
    images, peaks = seeds_of(atlas), [[-22, -4, -18], [0, 0, 0]]
    points = st.one_of(altered_json(peaks), values.map(json.dumps).map(str.encode))
    places = st.one_of(chosen(0, altered_header(volume)), chosen(1, points))
    seeds = [b"\0" + volume, b"\1" + as_json(peaks)]
    bodies_right = [bytes([n]) + as_json(body) for n, (_, _, body) in enumerate(REQUESTS)]
    return [
        one_folder("folder of a corpus", corpus_files(), read_corpus, seal=True),
        one_folder("NeuroQuery", neuroquery_files(), read_corpus),
        one_folder("Neurosynth", neurosynth_files(), read_corpus),
        one_folder("pubget", PUBGET, read_corpus),
        one_folder("folder of a model", model_files(), read_model, seal=True),
        Target("atlases", of_folder(atlas, read_atlas, seal=False), labelled, images, PUNCTUATION),
        Target("decode", of_file([".nii", ".json"], read_place), places, seeds, PUNCTUATION),
        Target("HTTP", post, bodies(), bodies_right, PUNCTUATION),
    ]


def one_folder(
    name: str, files: Mapping[str, bytes], read: Callable[[Path], object], *, seal: bool = False
) -> Target:
    """Make a target of a function of a folder."""
    call = of_folder(files, read, seal=seal)
    return Target(name, call, alterations(files), seeds_of(files), PUNCTUATION)


def as_json(content: Any) -> bytes:
    """Write JSON."""
    return json.dumps(content).encode()


def make_targets() -> Iterator[Target]:
    """Give all targets; the small model is fitted, and folders are written, when they are due."""
    yield from text_targets()
    yield from file_targets()
    yield from folder_targets()
