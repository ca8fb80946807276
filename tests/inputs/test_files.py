"""Files as text: encodings, compression and limits."""

import gzip
import subprocess
import sys

import pytest

from neurowhere.exceptions import TextError
from neurowhere.inputs.sources import MAX_BYTES, read_file


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_with_a_mark(tmp_path, encoding):
    path = tmp_path / "note.txt"
    path.write_text("Läsion – left", encoding=encoding)
    assert read_file(path) == "Läsion – left"


def test_compressed(tmp_path):
    path = tmp_path / "note.txt.gz"
    path.write_bytes(gzip.compress(b"fear"))
    assert read_file(path) == "fear"
    path.write_bytes(gzip.compress(b"fear" * 1000)[:20])
    with pytest.raises(TextError, match="truncated or damaged"):
        read_file(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x7fELF\x02\0\0", "is not text, but binary"),
        (b"caf\xe9", r"is not UTF-8 text \(byte 0xe9 at 3\)"),
    ],
)
def test_what_is_not_text(tmp_path, content, message):
    path = tmp_path / "note"
    path.write_bytes(content)
    with pytest.raises(TextError, match=message):
        read_file(path)


def test_two_hundred_megabytes(tmp_path):
    path = tmp_path / "long.txt"
    with path.open("wb") as stream:
        stream.truncate(200_000_000)
    with pytest.raises(TextError, match=r"larger than 20 MiB.*CSV or JSON-lines"):
        read_file(path)


def test_what_grows_when_unpacked(tmp_path):
    path = tmp_path / "long.txt.gz"
    path.write_bytes(gzip.compress(b" " * (MAX_BYTES + 1), 1))
    with pytest.raises(TextError, match="larger than 20 MiB"):
        read_file(path)


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(TextError, match="Is a directory"):
        read_file(tmp_path)


# Not from resource.getrusage, which also counts the process that this one was forked from.
MEMORY = """
import re, sys
from neurowhere.inputs import read_text
text = read_text(sys.argv[1])
kibibytes = re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1]
print(len(text.content), int(kibibytes) // 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak memory from /proc")
@pytest.mark.parametrize(
    ("name", "line"),
    [("a.txt", "The amygdala 😀 insula. "), ("a.html", "<p>The amygdala 😀 insula.</p>\n")],
)
def test_twenty_megabytes_stay_within_half_a_gigabyte(tmp_path, name, line):
    path = tmp_path / name
    path.write_text(line * (MAX_BYTES // len(line.encode())), "utf-8")
    command = [sys.executable, "-c", MEMORY, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    length, mebibytes = map(int, done.stdout.split())
    assert length > 10_000_000
    assert mebibytes < 500
