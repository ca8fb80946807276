"""Downloads from a real server on this machine that misbehaves in every way we could think of."""

import gzip
import hashlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from neurowhere.corpus import download as module
from neurowhere.corpus.download import CHECKSUMS_NAME, RELEASES, Release, download, fetch, verify
from neurowhere.exceptions import CorpusError, OutputError

# Larger than what sockets buffer, so that a cut is seen in the middle; not periodic, so that
# bytes put in the wrong place change the checksum.
BIG = b"".join(hashlib.sha256(bytes([i % 256, i // 256])).digest() for i in range(65_536))
FILES = {"big.npz": BIG, "small.tsv.gz": gzip.compress(b"id\tx\n1\t2\n", mtime=0), "empty.txt": b""}
SHA256 = {name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()}
CUT_AFTER = 1_000_003
KEPT = CUT_AFTER // module.CHUNK_BYTES * module.CHUNK_BYTES

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


@dataclass
class Behaviour:
    """How the server treats requests, and which ones it got."""

    cuts: int = 0  # connections to cut in the middle
    ranges: bool = True  # whether it knows Range
    shift: int = 0  # by how much it misplaces a range
    failures: list[int] = field(default_factory=list)  # status codes to answer first
    requests: list[tuple[str, str | None]] = field(default_factory=list)


class Handler(BaseHTTPRequestHandler):
    behaviour: Behaviour

    def do_GET(self) -> None:
        behaviour = self.behaviour
        wanted = self.headers.get("Range")
        behaviour.requests.append((self.path, wanted))
        content = FILES.get(self.path.removeprefix("/data/"))
        if behaviour.failures:
            self.send_error(behaviour.failures.pop(0))
            return
        if content is None:
            self.send_error(404)
            return
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        if wanted and behaviour.ranges:
            if start >= len(content):
                self.send_error(416)
                return
            start += behaviour.shift
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        else:
            start = 0
            self.send_response(200)
        body = content[start:]
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if behaviour.cuts and len(body) > CUT_AFTER:
            behaviour.cuts -= 1
            body = body[:CUT_AFTER]
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def behaviour() -> Behaviour:
    return Behaviour()


@pytest.fixture
def address(behaviour: Behaviour, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(module, "FIRST_WAIT_SECONDS", 0.001)
    handler = type("Server", (Handler,), {"behaviour": behaviour})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/data/"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def release(address: str) -> Release:
    return Release(address, "CC0", {"big.npz": SHA256["big.npz"], "small.tsv.gz": None})


def assert_complete(folder: Path) -> None:
    for name in ("big.npz", "small.tsv.gz"):
        assert (folder / name).read_bytes() == FILES[name]
    names = {file.name for file in folder.iterdir()}
    assert names == {"big.npz", "small.tsv.gz", CHECKSUMS_NAME}
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_download_writes_all_files_and_their_checksums(release: Release, tmp_path: Path):
    folder = fetch(release, tmp_path / "corpus")
    assert_complete(folder)
    recorded = (folder / CHECKSUMS_NAME).read_text().splitlines()
    assert recorded == [f"{SHA256[name]}  {name}" for name in release.files]


def test_cut_connection_is_resumed_where_it_was_cut(
    release: Release, behaviour: Behaviour, tmp_path: Path
):
    behaviour.cuts = 1
    assert_complete(fetch(release, tmp_path / "corpus"))
    asked = [wanted for path, wanted in behaviour.requests if path.endswith("big.npz")]
    assert asked == [None, f"bytes={KEPT}-"]


def test_next_call_resumes_what_an_interrupted_one_left(
    release: Release, behaviour: Behaviour, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    behaviour.cuts = 1
    monkeypatch.setattr(module, "RETRIES", 0)
    with pytest.raises(CorpusError, match=r"in 1 tries.*run the command again"):
        fetch(release, tmp_path / "corpus")
    assert not (tmp_path / "corpus").exists()
    assert_complete(fetch(release, tmp_path / "corpus"))
    asked = [wanted for path, wanted in behaviour.requests if path.endswith("big.npz")]
    assert asked == [None, f"bytes={KEPT}-"]


def test_server_that_ignores_range_is_read_from_the_start(
    release: Release, behaviour: Behaviour, tmp_path: Path
):
    behaviour.cuts, behaviour.ranges = 1, False
    assert_complete(fetch(release, tmp_path / "corpus"))


def test_server_that_sends_another_range_is_read_from_the_start(
    release: Release, behaviour: Behaviour, tmp_path: Path
):
    behaviour.cuts, behaviour.shift = 1, 7
    assert_complete(fetch(release, tmp_path / "corpus"))
    assert [wanted for _, wanted in behaviour.requests[:3]] == [None, f"bytes={KEPT}-", None]


def test_partial_file_longer_than_the_real_one_is_replaced(release: Release, tmp_path: Path):
    staging = tmp_path / ".corpus.partial"
    staging.mkdir()
    (staging / "big.npz.part").write_bytes(BIG + b"more")
    assert_complete(fetch(release, tmp_path / "corpus"))


def test_server_that_always_cuts_is_given_up_after_bounded_retries(
    release: Release, behaviour: Behaviour, tmp_path: Path
):
    behaviour.cuts, behaviour.ranges = 1_000, False
    with pytest.raises(CorpusError, match=r"could not download .*big\.npz in 6 tries"):
        fetch(release, tmp_path / "corpus")
    assert len(behaviour.requests) == 1 + module.RETRIES
    assert not (tmp_path / "corpus").exists()
    assert not (tmp_path / ".corpus.partial" / "big.npz").exists()


def test_busy_server_is_asked_again(release: Release, behaviour: Behaviour, tmp_path: Path):
    behaviour.failures = [503, 429]
    assert_complete(fetch(release, tmp_path / "corpus"))


def test_missing_file_is_an_error_without_retries(
    address: str, behaviour: Behaviour, tmp_path: Path
):
    with pytest.raises(CorpusError, match=r"cannot download .*absent\.tsv.*404"):
        fetch(Release(address, "CC0", {"absent.tsv": None}), tmp_path / "corpus")
    assert len(behaviour.requests) == 1
    assert not (tmp_path / "corpus").exists()


@pytest.mark.parametrize("name", ["big.npz", "empty.txt"])
def test_wrong_checksum_is_refused_and_the_file_not_kept(address: str, name: str, tmp_path: Path):
    wrong = Release(address, "CC0", {name: "0" * 64})
    with pytest.raises(CorpusError, match=f"{name} is not the file of the release.*{SHA256[name]}"):
        fetch(wrong, tmp_path / "corpus")
    assert list(tmp_path.rglob("*.*")) == [tmp_path / ".corpus.partial"]


def test_empty_file_is_downloaded(address: str, tmp_path: Path):
    folder = fetch(Release(address, "CC0", {"empty.txt": None}), tmp_path / "corpus")
    assert (folder / "empty.txt").read_bytes() == b""


def test_second_download_verifies_and_asks_for_nothing(
    release: Release, behaviour: Behaviour, tmp_path: Path
):
    folder = fetch(release, tmp_path / "corpus")
    n_requests = len(behaviour.requests)
    assert fetch(release, folder) == folder
    assert len(behaviour.requests) == n_requests


def test_changed_file_is_found_also_where_only_the_first_download_knows_it(
    release: Release, tmp_path: Path
):
    folder = fetch(release, tmp_path / "corpus")
    verify(folder)
    (folder / "small.tsv.gz").write_bytes(b"tampered")
    with pytest.raises(CorpusError, match=f"small.tsv.gz should have.*{SHA256['small.tsv.gz']}"):
        verify(folder)
    with pytest.raises(CorpusError, match=r"small\.tsv\.gz.*download it again"):
        fetch(release, folder)


@pytest.mark.parametrize("text", [b"0123\n", b"\n", b"\xff\xfe" * 40])
def test_damaged_checksums_are_a_one_line_error(release: Release, text: bytes, tmp_path: Path):
    folder = fetch(release, tmp_path / "corpus")
    with (folder / CHECKSUMS_NAME).open("ab") as stream:
        stream.write(text)
    with pytest.raises(CorpusError, match=f"{CHECKSUMS_NAME} is damaged.*download it again"):
        fetch(release, folder)


def test_missing_file_is_found(release: Release, tmp_path: Path):
    folder = fetch(release, tmp_path / "corpus")
    (folder / "big.npz").unlink()
    with pytest.raises(CorpusError, match=r"big\.npz.*no such file"):
        verify(folder)


def test_folder_with_other_files_is_left_alone(release: Release, tmp_path: Path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(CorpusError, match=f"no {CHECKSUMS_NAME}; give a new folder"):
        fetch(release, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_empty_folder_is_filled(release: Release, tmp_path: Path):
    (tmp_path / "corpus").mkdir()
    assert_complete(fetch(release, tmp_path / "corpus"))


def test_folder_below_a_file_is_a_one_line_error(release: Release, tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot write"):
        fetch(release, tmp_path / "file" / "corpus")


def test_download_takes_names_and_a_mirror(
    address: str, release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    moved = Release("http://127.0.0.1:1/gone", release.licence, release.files)
    monkeypatch.setitem(RELEASES, "toy", moved)
    assert_complete(download("toy", tmp_path / "corpus", base_url=address))
    with pytest.raises(CorpusError, match="'brainmap'; choose among neuroquery, neurosynth"):
        download("brainmap", tmp_path / "other")


def test_unreachable_server_is_a_one_line_error(
    release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "RETRIES", 1)
    with pytest.raises(CorpusError, match="in 2 tries"):
        fetch(release, tmp_path / "corpus", base_url="http://127.0.0.1:1/")


@pytest.mark.parametrize("name", sorted(RELEASES))
def test_releases_are_pinned_to_a_commit_and_checksums_well_formed(name: str):
    release = RELEASES[name]
    assert any(len(part) == 40 for part in release.base_url.split("/"))
    assert all(known is None or len(bytes.fromhex(known)) == 32 for known in release.files.values())


def test_known_checksum_of_the_vocabulary_is_that_of_the_file_at_hand(data: Path):
    content = gzip.decompress((data / "corpus/neuroquery156521_vocabulary.txt.gz").read_bytes())
    known = RELEASES["neuroquery"].files[
        "data-neuroquery_version-1_vocab-neuroquery156521_vocabulary.txt"
    ]
    assert hashlib.sha256(content).hexdigest() == known
