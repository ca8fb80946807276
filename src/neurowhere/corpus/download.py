"""Download public corpora, verify their checksums, and resume after an interruption.

Files come into a hidden folder beside the one asked for, which appears when all are there.
Each file is checked against its SHA-256: the known one, or else the one of the first download,
which is recorded beside the data in ``SHA256SUMS`` (as ``sha256sum --check`` reads it).
"""

import logging
import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import (
    INTERNAL_SERVER_ERROR,
    PARTIAL_CONTENT,
    REQUESTED_RANGE_NOT_SATISFIABLE,
    TOO_MANY_REQUESTS,
)
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from neurowhere._tools.files import sha256
from neurowhere._tools.parallel import track
from neurowhere._tools.replacement import publish, sole_writer
from neurowhere.exceptions import CorpusError, OutputError

CHECKSUMS_NAME = "SHA256SUMS"
LINE = re.compile("(?P<sha256>[0-9a-f]{64})  (?P<name>.+)")
CHUNK_BYTES = 1 << 18
TIMEOUT_SECONDS = 30.0
RETRIES = 5
FIRST_WAIT_SECONDS = 1.0  # doubled at each retry


@dataclass(frozen=True)
class Release:
    """Files of a public corpus at one commit: their address, licence, and SHA-256 where known."""

    base_url: str
    licence: str
    files: Mapping[str, str | None]


# The commits are those that NiMARE 0.22 fetches. No checksums of NeuroQuery's files have been
# published, except that its vocabulary is at hand; those of Neurosynth are on record in several
# public programs that pin this commit.
_NEUROQUERY = "data-neuroquery_version-1_"
_COUNTS = _NEUROQUERY + "vocab-neuroquery156521_source-{}_type-count_features.npz"
RELEASES = {
    "neuroquery": Release(
        "https://github.com/neuroquery/neuroquery_data/raw/4580f86267fb7c14ac1f601e298cbed898d79f2d/data/",
        "BSD-3-Clause",
        {
            f"{_NEUROQUERY}coordinates.tsv.gz": None,
            f"{_NEUROQUERY}metadata.tsv.gz": None,
            _COUNTS.format("title"): None,
            _COUNTS.format("abstract"): None,
            _COUNTS.format("keywords"): None,
            f"{_NEUROQUERY}vocab-neuroquery156521_vocabulary.txt": (
                "54a768ac2cd266f38a3010a20fd8b10abb107677776c8bda7060c8f9a4517793"
            ),
        },
    ),
    "neurosynth": Release(
        "https://github.com/neurosynth/neurosynth-data/raw/209c33cd009d0b069398a802198b41b9c488b9b7/",
        "ODbL-1.0",
        {
            "data-neurosynth_version-7_coordinates.tsv.gz": (
                "17135be3e08a0ab045896c77217e8463086543a0817d52a6a88c8e32c1161616"
            ),
            "data-neurosynth_version-7_metadata.tsv.gz": (
                "8acde7de2a14ee2a12b406e50a8805e83288b0bc78924ddb36879d496dfb757b"
            ),
        },
    ),
}


def download(name: str, folder: Path, *, base_url: str | None = None) -> Path:
    """Fetch a public corpus, one of `RELEASES`, or verify it if it is already there.

    An interrupted download is kept beside the folder, and the next call continues it. `base_url` is
    the address of a mirror. The folder gets all files of the release and ``SHA256SUMS``.
    """
    if name not in RELEASES:
        raise CorpusError(f"no public corpus is named {name!r}; choose among {', '.join(RELEASES)}")
    return fetch(RELEASES[name], Path(folder), base_url=base_url)


def fetch(release: Release, folder: Path, *, base_url: str | None = None) -> Path:
    """Fetch the files of a release into a folder, or verify those that are there."""
    address = (base_url or release.base_url).rstrip("/")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        verify(folder, release.files)
        return folder
    staging = folder.with_name(f".{folder.name}.partial")
    try:
        with sole_writer(staging):
            for name, known in release.files.items():
                _retrieve(f"{address}/{name}", known, name, staging)
            lines = [f"{sha256(staging / name)}  {name}\n" for name in release.files]
            (staging / CHECKSUMS_NAME).write_text("".join(lines), "utf-8")
        publish(staging, folder)
    except OSError as error:
        raise OutputError(f"cannot write {folder}: {error.strerror or error}") from error
    return folder


def verify(folder: Path, known: Mapping[str, str | None] | None = None) -> None:
    """Raise an error unless every file of a downloaded folder has its recorded SHA-256.

    `known` are files that have to be there, with their SHA-256 if it is known.
    """
    record = folder / CHECKSUMS_NAME
    if not record.is_file():
        raise CorpusError(
            f"expected a folder made by `neurowhere corpus download`, but {folder} has no "
            f"{CHECKSUMS_NAME}; give a new folder"
        )
    expected: dict[str, str | None] = {}
    for text in record.read_text("utf-8", "replace").splitlines():
        line = LINE.fullmatch(text)
        if line is None:
            raise CorpusError(f"{record} is damaged; remove {folder} and download it again")
        expected[line["name"]] = line["sha256"]
    for name, checksum in (known or {}).items():
        expected[name] = checksum or expected.get(name)
    for name, checksum in expected.items():
        file = folder / name
        found = sha256(file) if file.is_file() else "no such file"
        if found != checksum:
            raise CorpusError(
                f"{file} should have the SHA-256 {checksum} but has {found}; "
                f"remove {folder} and download it again"
            )


def _retrieve(url: str, known: str | None, name: str, folder: Path) -> None:
    """Fetch one file with pooch, which checks it, or raise a one-line error."""
    import pooch

    pooch.get_logger().setLevel(logging.WARNING)
    try:
        pooch.retrieve(
            url, known_hash=known and f"sha256:{known}", fname=name, path=folder, downloader=resume
        )
    except CorpusError:
        raise
    except ValueError as error:
        raise CorpusError(f"{url} is not the file of the release: {error}") from error


def resume(url: str, output_file: str, pooch: object) -> None:
    """Download a file for pooch, and continue what an earlier attempt left.

    What has come so far is in a ``.part`` file; it becomes `output_file` when it is whole.
    """
    import requests

    target = Path(output_file)
    partial = target.with_name(PurePosixPath(urlsplit(url).path).name + ".part")
    cuts = (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError)
    for retry in range(RETRIES + 1):
        if retry:
            time.sleep(FIRST_WAIT_SECONDS * 2 ** (retry - 1))
        try:
            _append(url, partial)
        except cuts as error:
            reason: Exception = error
        except requests.RequestException as error:
            raise CorpusError(
                f"cannot download {url} ({error}); check the address or try later"
            ) from error
        else:
            partial.replace(target)
            return
    raise CorpusError(
        f"could not download {url} in {RETRIES + 1} tries ({reason}); check the connection and "
        "run the command again: it goes on from there"
    ) from reason


def _append(url: str, partial: Path) -> None:
    """Request the missing bytes and write them; raise an error unless all arrived."""
    import requests

    start = partial.stat().st_size if partial.exists() else 0
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
    with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT_SECONDS) as response:
        if not _goes_on(response, start):
            partial.unlink(missing_ok=True)
            raise requests.ConnectionError("the server does not go on where the last try ended")
        response.raise_for_status()
        if response.status_code != PARTIAL_CONTENT:
            start = 0  # the server sends the file from its beginning
        length = response.headers.get("Content-Length")
        n_chunks = math.ceil(int(length) / CHUNK_BYTES) if length else None
        with partial.open("ab" if start else "wb") as stream:
            chunks = response.iter_content(CHUNK_BYTES)
            for chunk in track(chunks, partial.stem, total=n_chunks):
                stream.write(chunk)
    if length and partial.stat().st_size != start + int(length):
        raise requests.ConnectionError(f"{partial.stat().st_size} of {start + int(length)} bytes")


def _goes_on(response: Any, start: int) -> bool:
    """Return whether a response has the missing bytes, or all; raise if the server is busy."""
    import requests

    status, sent = response.status_code, response.headers.get("Content-Range", "")
    if status == TOO_MANY_REQUESTS or status >= INTERNAL_SERVER_ERROR:
        raise requests.ConnectionError(f"{status} {response.reason}")
    if status == PARTIAL_CONTENT:
        return bool(sent.startswith(f"bytes {start}-"))
    return bool(status != REQUESTED_RANGE_NOT_SATISFIABLE)
