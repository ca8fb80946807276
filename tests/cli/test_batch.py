"""A batch of texts: rows and folders, names that collide, and what outlives an interruption."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from neurowhere import Encoder
from neurowhere.cli import batch
from neurowhere.cli.tally import MOST_TOLD
from neurowhere.inputs import Text, split_sentences
from neurowhere.model.text_model import CHUNK_ENCODED as CHUNK
from neurowhere.report.encoding import write_encoding
from neurowhere.text.reading.mentions import read_mentions

PEAK = """
import resource
from neurowhere.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
FOLDERS = ("--no-pictures",)  # which the tests of one text draw


@pytest.fixture(autouse=True)
def interruptible():
    """Ctrl-C is heard, also by tests that run in the background of a shell, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def write_texts(path, texts):
    """Write pairs of id and text as JSON lines."""
    path.write_text("".join(json.dumps({"id": id, "text": text}) + "\n" for id, text in texts))
    return path


def heaviest(folder):
    return rows_of((folder / "terms.csv").read_text())[0]["term"]


# ---- tables


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="resource is of Unix")
def test_more_texts_take_no_more_memory(tmp_path):
    peaks = []
    for n in (2 * CHUNK, 20 * CHUNK):
        texts = [(str(i), f"Case {i}: an infarct in the left thalamus.") for i in range(n)]
        source = write_texts(tmp_path / f"{n}.jsonl", texts)
        command = [sys.executable, "-c", PEAK, "encode", source, "--table", tmp_path / f"{n}.csv"]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        assert len(rows_of((tmp_path / f"{n}.csv").read_text())) == n
        peaks.append(int(done.stdout.splitlines()[-1]) * (1 if sys.platform == "darwin" else 1024))
    assert peaks[1] < peaks[0] + 18 * CHUNK * 20_000  # maps of all would be 6 times as much


def test_table(encode, tmp_path):
    source, table = tmp_path / "texts.csv", tmp_path / "table.csv"
    source.write_text("id,text\n7,left amygdala\n8,liver\n9,motor cortex\n10,\n11,\n")
    outcome = encode(source, "--table", table)
    assert outcome.code == 1
    assert outcome.out == f"{table}: 3 texts encoded (1 without a map), 2 not\n"
    assert outcome.err.splitlines() == [
        "neurowhere: 10: no text",
        "neurowhere: 11: no text",
        "neurowhere: 2 of 5 texts failed; see above",
    ]
    rows = rows_of(table.read_text())
    assert [row["id"] for row in rows] == ["7", "8", "9", "10", "11"]
    assert rows[0]["heaviest"] == "amygdala"
    assert rows[1]["support"] == "no place: the model knows no word of this text"
    again = encode(source, "--table", table)
    assert (again.code, "exists; choose another file" in again.err) == (1, True)
    assert (
        encode(source, "--table", table, "--overwrite", "--all-regions", "--keep-going").code == 0
    )
    assert "Amygdala_L" in rows_of(table.read_text())[0]


def test_rows_that_a_quote_swallows_are_a_failure(encode, tmp_path):
    source, table = tmp_path / "texts.csv", tmp_path / "table.csv"
    source.write_text('id,text\n7,amygdala\n8,"insula\n9,motor cortex\n10,thalamus\n')
    outcome = encode(source, "--table", table)
    assert outcome.code == 1
    assert outcome.err.splitlines() == [
        "neurowhere: texts.csv:3: a quotation mark is not closed; 3 lines, 3 to 5, are not read",
        "neurowhere: 1 of 2 texts failed; see above",
    ]
    assert [row["id"] for row in rows_of(table.read_text())] == ["7", "texts.csv:3"]
    assert encode(source, "--table", table, "--overwrite", "--keep-going").code == 0


def test_many_failures_are_told_in_few_lines(encode, tmp_path):
    source, table = tmp_path / "texts.csv", tmp_path / "table.csv"
    source.write_text("id,text\na,amygdala\n" + "b,\n" * 100)
    outcome = encode(source, "--table", table)
    *told, more, last = outcome.err.splitlines()
    assert told == ["neurowhere: b: no text"] * MOST_TOLD
    assert more == f"neurowhere: and {100 - MOST_TOLD} more, in the column problem of the table"
    assert last == "neurowhere: 100 of 101 texts failed; see above"
    assert len(rows_of(table.read_text())) == 101


@pytest.mark.parametrize("option", ["--table", "-o"])
def test_an_option_is_no_name_of_a_table_or_folder(encode, option, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    encode("left amygdala", option, "--json").assert_refused("got the option --json")
    assert not any(tmp_path.iterdir())


def test_a_table_on_standard_output(encode, tmp_path):
    for name, text in {"a.txt": "amygdala", "b.html": "<p>visual cortex", "c.txt": "\0"}.items():
        (tmp_path / name).write_text(text)
    outcome = encode(*sorted(tmp_path.glob("?.*")), "--keep-going")
    assert outcome.code == 0
    rows = rows_of(outcome.out)
    assert [row["heaviest"] for row in rows] == ["amygdala", "visual cortex", ""]
    assert "c.txt is not text, but binary" in rows[2]["problem"]
    lines = encode(*sorted(tmp_path.glob("?.*")), "--json").out.splitlines()
    assert [json.loads(line)["terms"] for line in lines] == [1, 1, None]


@pytest.fixture
def ends_no_tests():
    """Let a SIGTERM that the command does not heed fail the test, and not end all of them."""

    def fail(*_):
        raise AssertionError("SIGTERM was not heeded")

    before = signal.signal(signal.SIGTERM, fail)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.usefixtures("ends_no_tests")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.linux
def test_what_is_done_is_kept_when_stopped(encode, tmp_path, monkeypatch, number, code):
    def stopped_half_way(sources, **options):
        yield from [Text(str(number), "amygdala") for number in range(CHUNK)]
        os.kill(os.getpid(), number)
        time.sleep(10)

    monkeypatch.setattr("neurowhere.inputs.iter_texts", stopped_half_way)
    outcome = encode("a text", "--table", tmp_path / "table.csv")
    assert outcome.code == code
    assert f"{CHUNK} texts encoded, 0 not; stopped before the end" in outcome.out
    assert len(rows_of((tmp_path / "table.csv").read_text())) == CHUNK


@pytest.mark.linux
def test_what_is_done_of_a_chunk_is_kept_when_stopped(encode, tmp_path, monkeypatch):
    def stopped_half_way(self, texts, **options):
        for number, encoding in enumerate(encode_many(self, texts, **options)):
            if number == 3:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(10)
            yield encoding

    encode_many = Encoder.encode_many
    monkeypatch.setattr(Encoder, "encode_many", stopped_half_way)
    source = write_texts(tmp_path / "a.jsonl", [(str(i), "amygdala") for i in range(9)])
    outcome = encode(source, "--table", tmp_path / "table.csv", "--keep-going")
    assert outcome.code == 130
    assert "3 texts encoded, 0 not; stopped before the end" in outcome.out
    rows = rows_of((tmp_path / "table.csv").read_text())
    assert [row["id"] for row in rows] == ["0", "1", "2"]


@pytest.fixture
def stopped_table(encode, tmp_path, monkeypatch):
    """Texts, and a table that was stopped after the first chunk of them."""
    texts = [(str(i), "amygdala" if i % 3 else "=visual cortex") for i in range(2 * CHUNK + 9)]
    source, table = write_texts(tmp_path / "a.jsonl", texts), tmp_path / "table.csv"

    def stopped(*arguments, **options):
        made = append(*arguments, **options)
        os.kill(os.getpid(), signal.SIGINT)
        return made

    append = batch._append
    with monkeypatch.context() as patch:
        patch.setattr(batch, "_append", stopped)
        outcome = encode(source, "--table", table, *THREE_TERMS)
    assert outcome.code == 130
    assert "stopped before the end, run again to go on" in outcome.out
    assert len(rows_of(table.read_text())) == CHUNK
    return source, table


THREE_TERMS = ("--keep-going", "--sort", "ratio")


@pytest.mark.linux
@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_table_that_was_stopped_goes_on(encode, stopped_table, tmp_path, monkeypatch, jobs):
    source, table = stopped_table
    read = []
    if jobs == 1:
        encode_many = Encoder.encode_many

        def counted(self, texts, **options):
            texts = list(texts)
            read.extend(texts)
            return encode_many(self, texts, **options)

        monkeypatch.setattr(Encoder, "encode_many", counted)
    again = encode(source, "--table", table, *THREE_TERMS, "--jobs", jobs)
    assert again.code == 0
    assert f"{CHUNK + 9} texts encoded, {CHUNK} kept from before, 0 not" in again.out
    assert len(read) == (CHUNK + 9 if jobs == 1 else 0)
    whole = tmp_path / "whole.csv"
    assert encode(source, "--table", whole, *THREE_TERMS).code == 0
    assert table.read_text() == whole.read_text()
    assert not list(tmp_path.glob(".*"))
    assert "exists; choose another file" in encode(source, "--table", table, *THREE_TERMS).err


@pytest.mark.linux
@pytest.mark.parametrize("change", ["option", "text", "fewer", "table", "no table"])
def test_a_table_of_something_else_does_not_go_on(encode, stopped_table, change):
    source, table = stopped_table
    options, expected = list(THREE_TERMS), "holds the rows of other texts"
    lines = source.read_text().splitlines(keepends=True)
    if change == "option":
        options, expected = ["--keep-going"], "encoded in another way"
    elif change == "text":
        source.write_text("".join(lines).replace("visual", "motor", 1))
    elif change == "fewer":
        source.write_text("".join(lines[: CHUNK - 1]))
    elif change == "table":
        table.write_text(table.read_text()[:-9])
        expected = "then changed"
    else:
        table.unlink()
        assert encode(source, "--table", table, *options).code == 0
        return
    before = table.read_bytes()
    encode(source, "--table", table, *options).assert_refused(expected)
    assert table.read_bytes() == before
    assert encode(source, "--table", table, *options, "--overwrite").code == 0


@pytest.mark.linux
def test_a_signal_while_rows_are_written_doubles_none(encode, tmp_path, monkeypatch):
    def stopped(*arguments, **options):
        made = append(*arguments, **options)
        os.kill(os.getpid(), signal.SIGINT)
        return made

    append = batch._append
    monkeypatch.setattr(batch, "_append", stopped)
    source = write_texts(tmp_path / "a.jsonl", [(str(i), "amygdala") for i in range(CHUNK + 9)])
    outcome = encode(source, "--table", tmp_path / "table.csv")
    assert outcome.code == 130
    rows = rows_of((tmp_path / "table.csv").read_text())
    assert [row["id"] for row in rows] == [str(number) for number in range(CHUNK)]


@pytest.fixture
def failing(monkeypatch):
    """Let neurowhere fail on texts with a certain word."""

    def fail(text, *arguments, **options):
        if "numbat" in text:
            raise IndexError(text)
        return read_mentions(text, *arguments, **options)

    monkeypatch.setattr("neurowhere.model.reading.read_mentions", fail)


@pytest.mark.usefixtures("failing")
def test_a_text_that_fails_stops_no_other(encode, tmp_path):
    texts = [("a", "amygdala"), ("b", "left amygdala of a numbat"), ("c", "motor cortex")]
    source = write_texts(tmp_path / "texts.jsonl", texts)
    outcome = encode(source, "--table", tmp_path / "table.csv")
    assert outcome.code == 1
    assert "neurowhere: b: neurowhere failed on this text (IndexError at" in outcome.err
    assert "numbat" not in outcome.err
    rows = rows_of((tmp_path / "table.csv").read_text())
    assert [row["heaviest"] for row in rows] == ["amygdala", "", "motor cortex"]
    assert "IndexError at test_batch.py" in rows[1]["problem"]
    assert encode(source, "-o", tmp_path / "out", *FOLDERS, "--keep-going").code == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"a", "c", "table.csv"}
    assert "IndexError at" in rows_of((tmp_path / "out" / "table.csv").read_text())[1]["problem"]
    outcome = encode(texts[1][1])
    assert (outcome.code, len(outcome.err.splitlines())) == (1, 1)
    assert "neurowhere failed on this text (IndexError at" in outcome.err


def test_a_folder_that_fails_stops_no_other(encode, tmp_path, monkeypatch):
    def fail(encoding, *arguments, **options):
        if encoding.text == "amygdala":
            raise ZeroDivisionError
        return write_encoding(encoding, *arguments, **options)

    monkeypatch.setattr("neurowhere.report.encoding.write_encoding", fail)
    source = write_texts(tmp_path / "texts.jsonl", [("a", "amygdala"), ("b", "motor cortex")])
    assert encode(source, "-o", tmp_path / "out", *FOLDERS).code == 1
    first, second = rows_of((tmp_path / "out" / "table.csv").read_text())
    assert "ZeroDivisionError at test_batch.py" in first["problem"]
    assert (first["folder"], second["folder"], second["problem"]) == ("", "b", "")


def test_sentences_that_cannot_be_told_apart_stop_no_other_text(encode, tmp_path, monkeypatch):
    def fail(text, *arguments, **options):
        if text.name == "a":
            raise IndexError
        return split_sentences(text, *arguments, **options)

    monkeypatch.setattr("neurowhere.inputs.split_sentences", fail)
    source = write_texts(tmp_path / "texts.jsonl", [("a", "amygdala"), ("b", "motor cortex")])
    first, second = rows_of(encode(source, "--sentences").out)
    assert "IndexError at" in first["problem"]
    assert second["heaviest"] == "motor cortex"


def test_sentences(encode):
    rows = rows_of(encode("Left amygdala. The liver. Motor cortex?", "--sentences").out)
    assert [row["text"] for row in rows] == ["Left amygdala.", "The liver.", "Motor cortex?"]
    assert [row["heaviest"] for row in rows] == ["amygdala", "", "motor cortex"]
    rows = rows_of(encode("Left amygdala. Motor cortex?", "--sentences", "--no-text").out)
    assert "text" not in rows[0]


def test_items_of_a_list_are_sentences_and_a_denial_has_been_read(encode, tmp_path):
    report = "Findings:\n1. Left amygdala lesion.\n2. No tumour of the motor cortex.\n- Well.\n"
    result = encode(report + "(b) Visual cortex. Impression: 1. Left amygdala.", "--sentences")
    assert (result.code, result.err) == (0, "")
    rows = rows_of(result.out)
    assert [row["text"].replace("'-", "-") for row in rows] == [
        "Findings:\n1. Left amygdala lesion.",
        "2. No tumour of the motor cortex.",
        "- Well.",
        "(b) Visual cortex.",
        "Impression: 1. Left amygdala.",
    ]
    assert "denies" in rows[1]["support"]
    assert "knows no word" in rows[2]["support"]
    assert not any(row["problem"] for row in rows)
    folders = tmp_path / "folders"
    assert encode(report, "--sentences", "-o", folders, "--no-pictures").code == 0
    assert [row["folder"] != "" for row in rows_of((folders / "table.csv").read_text())] == [
        True, False, False
    ]  # fmt: skip


def test_sentences_of_a_report_keep_its_sections(encode):
    history = "Indication: motor cortex? Known tumour of the motor cortex."
    report = f"{history}\nFindings: Left amygdala. Normal."
    rows = rows_of(encode(report, "--sentences").out)
    assert [row["text"] for row in rows] == ["Findings: Left amygdala.", "Normal."]
    assert len(rows_of(encode(report, "--sentences", "--all-sections").out)) == 4


def test_one_bad_file_is_one_line(encode, tmp_path):
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "binary.txt").write_bytes(b"\0")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.txt").write_text(" ")
    reasons = {
        "empty.txt": "empty.txt: no text",
        "binary.txt": "binary.txt is not text",
        "folder": "a.txt: no text",
    }
    for name, reason in reasons.items():
        outcome = encode(tmp_path / name, "--table", tmp_path / "out.csv")
        assert (outcome.code, outcome.out) == (1, "")
        assert outcome.err.count("\n") == 1, outcome.err
        assert reason in outcome.err
    assert not (tmp_path / "out.csv").exists()


def test_cells_that_begin_like_a_formula_are_escaped(encode, tmp_path):
    texts = [("=cmd|' /C calc'!A0", "amygdala"), ("-5", "motor cortex"), ("@SUM(1)", "")]
    source = write_texts(tmp_path / "texts.jsonl", texts)
    rows = rows_of(encode(source, "--keep-going").out)
    assert [row["id"] for row in rows] == ["'=cmd|' /C calc'!A0", "-5", "'@SUM(1)"]
    assert min(float(row["x"]) for row in rows if row["x"]) < 0  # a number, not a text
    rows = rows_of(encode(source, "--keep-going", "--keep-formulas").out)
    assert [row["id"] for row in rows] == [id for id, _ in texts]


# ---- folders


def test_a_folder_for_each_text(encode, tmp_path):
    texts = [("a/b", "amygdala"), ("a/b", ""), ("a/b", "visual cortex")]
    source, output = write_texts(tmp_path / "texts.jsonl", texts), tmp_path / "out"
    outcome = encode(source, "-o", output, *FOLDERS)
    assert outcome.code == 1
    assert outcome.err.splitlines() == [
        "neurowhere: a/b: no text",
        "neurowhere: 1 of 3 texts failed; see above",
    ]
    assert {file.name for file in output.iterdir()} == {"a_b", "a_b~3", "table.csv"}
    assert heaviest(output / "a_b~3") == "visual cortex"
    rows = rows_of((output / "table.csv").read_text())
    assert [row["folder"] for row in rows] == ["a_b", "", "a_b~3"]
    assert [row["problem"] for row in rows] == ["", "no text", ""]


def test_no_folder_of_a_map_that_is_withheld(encode, tmp_path):
    (tmp_path / "a.csv").write_text("id,text\na,Bell's palsy\nb,left amygdala\n")
    encode(tmp_path / "a.csv", "-o", tmp_path / "maps", "--no-pictures")
    rows = rows_of((tmp_path / "maps" / "table.csv").read_text())
    assert [row["folder"] for row in rows] == ["", "b"]
    assert rows[0]["support"] == "outside the brain: nerve"
    assert not (tmp_path / "maps" / "a").exists()


@pytest.mark.parametrize("overwrite", [(), ("--overwrite",)])
def test_no_name_hides_another(encode, tmp_path, overwrite):
    emoji, han = "\N{GRINNING FACE}" * 80, "\N{CJK UNIFIED IDEOGRAPH-20000}" * 80
    ids = ["a", "a", "a-2", "A", "table.csv", "..", "../a", "", emoji, han, han + "x", "-rf"]
    names = ["amygdala", "motor cortex", "visual cortex"]
    texts = [(id, names[number % 3]) for number, id in enumerate(ids)]
    source, output = write_texts(tmp_path / "texts.jsonl", texts), tmp_path / "out"
    outcome = encode(source, "-o", output, *FOLDERS, *overwrite)
    assert (outcome.code, outcome.err) == (0, "")
    rows = rows_of((output / "table.csv").read_text("utf-8"))
    assert len({row["folder"].casefold() for row in rows}) == len(ids)
    for (_, text), row in zip(texts, rows, strict=True):
        assert Path(row["folder"]).name == row["folder"]
        assert not row["folder"].startswith(("-", "."))
        assert heaviest(output / row["folder"]) == row["heaviest"] == text


def test_a_second_run_computes_what_is_missing(encode, tmp_path):
    texts = [("a", "amygdala"), ("b", "motor cortex"), ("c", "")]
    source, output = write_texts(tmp_path / "texts.jsonl", texts), tmp_path / "out"
    assert encode(source, "-o", output, *FOLDERS).code == 1
    made = (output / "a" / "map.nii.gz").stat()
    write_texts(source, [*texts[:2], ("c", "visual cortex"), ("d", "amygdala")])
    outcome = encode(source, "-o", output, *FOLDERS)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == f"{output / 'table.csv'}: 2 texts encoded, 2 kept from before, 0 not\n"
    assert (output / "a" / "map.nii.gz").stat().st_mtime_ns == made.st_mtime_ns
    rows = rows_of((output / "table.csv").read_text())
    assert [(row["id"], row["problem"]) for row in rows] == [(id, "") for id in "abcd"]
    assert encode(source, "-o", output, *FOLDERS, "--overwrite").out.endswith(
        "4 texts encoded, 0 not\n"
    )
    assert (output / "a" / "map.nii.gz").stat().st_mtime_ns != made.st_mtime_ns


def test_a_text_that_has_changed_is_refused(encode, tmp_path):
    source, output = write_texts(tmp_path / "texts.jsonl", [("a", "amygdala")]), tmp_path / "out"
    assert encode(source, "-o", output, *FOLDERS).code == 0
    for other in (("--no-negation",), ("--resolution", 8), ("--no-text",)):
        encode(source, "-o", output, *FOLDERS, *other).assert_refused("in another way")
    write_texts(source, [("a", "motor cortex")])
    encode(source, "-o", output, *FOLDERS).assert_refused("holds another text")
    assert heaviest(output / "a") == "amygdala"
    assert encode(source, "-o", output, *FOLDERS, "--overwrite").code == 0
    assert heaviest(output / "a") == "motor cortex"


@pytest.mark.parametrize("name", ["notes.txt", "table.csv"])
def test_a_folder_of_something_else_is_left_alone(encode, tmp_path, name):
    source, output = write_texts(tmp_path / "texts.jsonl", [("a", "amygdala")]), tmp_path / "out"
    output.mkdir()
    (output / name).write_text("id,what\n1,mine\n")
    outcome = encode(source, "-o", output, *FOLDERS)
    assert (outcome.code, outcome.out) == (1, "")
    assert "choose another folder" in outcome.err
    assert [file.read_text() for file in output.iterdir()] == ["id,what\n1,mine\n"]


def test_a_batch_that_fails_leaves_an_earlier_one(encode, tmp_path):
    source, output = write_texts(tmp_path / "texts.jsonl", [("a", "amygdala")]), tmp_path / "out"
    assert encode(source, "-o", output, *FOLDERS).code == 0
    before = (output / "table.csv").read_text()
    write_texts(source, [("a", ""), ("b", "")])
    assert encode(source, "-o", output, *FOLDERS, "--overwrite").code == 1
    assert (output / "table.csv").read_text() == before


@pytest.mark.parametrize("last", ['b,b,1,good,0.1,"a regi', "b,b,1\n", "b,b,\xe9"])
def test_a_row_that_was_cut_is_made_again(encode, tmp_path, last):
    texts = [("a", "amygdala"), ("b", "motor cortex")]
    source, output = write_texts(tmp_path / "texts.jsonl", texts), tmp_path / "out"
    assert encode(source, "-o", output, *FOLDERS).code == 0
    table = output / "table.csv"
    whole = table.read_text("utf-8")
    table.write_text("".join(whole.splitlines(keepends=True)[:2]) + last, "utf-8")
    outcome = encode(source, "-o", output, *FOLDERS)
    assert outcome.out.endswith(": 1 text encoded, 1 kept from before, 0 not\n"), outcome.err
    assert table.read_text("utf-8") == whole


SLOW = """if True:
    import sys, time
    import neurowhere.report.encoding as encoding
    from neurowhere.cli import main
    write = encoding.write_encoding
    def write_slowly(*arguments, **options):
        time.sleep(0.2)
        write(*arguments, **options)
    encoding.write_encoding = write_slowly
    encoding._is_template_mask = lambda brain: True  # which needs nilearn: a second and a half
    main()
"""


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(9, -9), (signal.SIGTERM, 143), (signal.SIGINT, 130)])
@pytest.mark.linux
def test_what_was_finished_outlives_the_process(encode, model, tmp_path, number, code):
    texts = [(str(number), "amygdala") for number in range(6)]
    source, output = write_texts(tmp_path / "texts.jsonl", texts), tmp_path / "out"
    command = ["encode", source, "-o", output, *FOLDERS, "--model", model]
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, *map(str, command)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if (output / "1").exists():
            break
        time.sleep(0.05)
    process.send_signal(number)
    assert process.wait(60) == code
    done = rows_of((output / "table.csv").read_text())
    assert 1 <= len(done) < 6
    outcome = encode(source, "-o", output, *FOLDERS)
    assert outcome.code == 0
    assert f"{len(done)} kept from before, 0 not" in outcome.out
    names = {file.name for file in output.iterdir()}
    assert names == {*(str(number) for number in range(6)), "table.csv"}
    assert all((output / id / "info.json").exists() for id, _ in texts)
    assert [row["id"] for row in rows_of((output / "table.csv").read_text())] == [
        id for id, _ in texts
    ]
