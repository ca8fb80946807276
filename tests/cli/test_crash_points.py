"""A sample of `benchmarks/crash_points.py`: commands killed, or told of a broken disk, half way."""

import json
import os
import shutil
import sys
import warnings

import pytest
from tests.tools.crashes import (
    break_the_disk,
    changes_of,
    fault_at,
    hidden,
    in_another_process,
    kill_this_process,
    visible,
)

from neurowhere.cli import batch, main
from neurowhere.evaluate import benchmark

pytestmark = [pytest.mark.linux, pytest.mark.slow]

DATED = {"date", "sha256"}


class RefusedError(Exception):
    """The command ended with one line and an exit code."""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty folder, which commands write to."""
    (tmp_path / "texts.csv").write_text("id,text\na,Left amygdala.\nb,The visual cortex.\n")
    (tmp_path / "place").mkdir()
    monkeypatch.chdir(tmp_path / "place")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    return tmp_path / "place"


def command(*arguments):
    def run():
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        sys.argv = ["neurowhere", *map(str, arguments)]
        try:
            with warnings.catch_warnings():
                main()
        except SystemExit as stop:
            if stop.code not in (None, 0):
                raise RefusedError(stop.code) from stop

    return run


def finish(work):
    return in_another_process(work, RefusedError)


def contents(place):
    """What is there, but for dates."""
    found = visible(place)
    for name in found:
        if name.endswith("info.json"):
            info = json.loads(found[name])
            found[name] = {key: said for key, said in info.items() if key not in DATED}
        elif name.endswith("report.html"):
            found[name] = "a page"
    return found


def empty(place):
    for path in place.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def chosen(changes, fault):
    """Changes that a disk refuses first, or that a process makes last."""
    if fault is break_the_disk:
        return [1 + changes.index(kind) for kind in ("fsync", "os.remove")]
    last = {change: step for step, change in enumerate(changes, start=1)}
    return [last["write"], last["os.rename"], last["os.remove"]]


@pytest.mark.parametrize("fault", [kill_this_process, break_the_disk], ids=["killed", "EIO"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("decode", "-24", "-4", "-18", "-o", "out"),
        ("encode", "../texts.csv", "--no-pictures", "-o", "out"),
    ],
    ids=["decode", "encode of many"],
)
def test_the_next_run_ends_what_was_disturbed(run, place, model, arguments, fault):
    assert run(*arguments, "--model", model).code == 0  # copies of this process import nothing
    right = contents(place)
    empty(place)
    work = command(*arguments, "--model", model)
    changes = changes_of(lambda before: in_another_process(lambda: (before(), work())), place)
    assert contents(place) == right
    assert len(changes) > 20
    for step in chosen(changes, fault):
        empty(place)
        finish(lambda step=step: (fault_at(step, fault, place), work()))
        was_done = contents(place) == right
        assert finish(work) in ((0, 3) if was_done else (0,)), changes[step - 1]
        assert contents(place) == right
        assert hidden(place) == []


def test_a_batch_that_was_killed_in_its_first_text_goes_on(place, model):
    """Its folder has the name of a text, and no table yet."""
    many = command("encode", "../texts.csv", "--no-pictures", "-o", "out", "--model", model)
    changes = changes_of(lambda before: in_another_process(lambda: (before(), many())), place)
    right = contents(place)
    published = [step for step, change in enumerate(changes, start=1) if change == "os.rename"][1]
    for step in (published, published + 1):
        empty(place)
        assert finish(lambda step=step: (fault_at(step, place=place), many())) < 0
        assert "out/table.csv" not in visible(place)
        assert hidden(place)
        assert finish(many) == 0
        assert contents(place) == right
        assert hidden(place) == []


def test_a_table_goes_on_wherever_a_stopped_run_or_the_next_was_killed(place, model, monkeypatch):
    """Its note is there before the table that it tells of."""
    monkeypatch.setattr("neurowhere.report.tables.CHUNK_ENCODED", 1)
    whole = command("encode", "../texts.csv", "--table", "t.csv", "--model", model)
    tables = batch._tables

    def stopped():
        def first(*arguments):
            yield next(tables(*arguments))
            raise KeyboardInterrupt

        batch._tables = first
        whole()

    assert finish(whole) == 0
    right = contents(place)

    def kill_each_time(disturbed, *earlier):
        empty(place)
        assert [finish(work) for work in earlier] == [3] * len(earlier)
        changes = changes_of(lambda told: in_another_process(lambda: (told(), disturbed())), place)
        placed = [step for step, change in enumerate(changes, start=1) if change == "os.rename"]
        assert len(placed) == 2  # the note, then the table
        for step in sorted({*placed, *(step + 1 for step in placed if step < len(changes))}):
            empty(place)
            assert [finish(work) for work in earlier] == [3] * len(earlier)
            finish(lambda step=step: (fault_at(step, place=place), disturbed()))
            was_done = contents(place) == right
            assert finish(whole) in ((0, 3) if was_done else (0,)), changes[step - 1]
            assert contents(place) == right
            assert hidden(place) == []

    kill_each_time(stopped)
    kill_each_time(whole, stopped)


def test_a_batch_goes_on_in_no_folder_of_others(encode, place):
    (place / "out" / "a").mkdir(parents=True)
    (place / "out" / "a" / "info.json").write_text('{"made_by": "neurowhere"}')
    encode("../texts.csv", "-o", "out").assert_refused("out is not empty; choose another folder")
    assert hidden(place) == []


def test_a_benchmark_removes_what_a_killed_one_left(place, tmp_path):
    from tests.studies import make_corpus

    folder = place / "out"
    benchmark(make_corpus(), folder, ["mean"], folds=1)
    (folder / "mean" / ".fold-0.json-0a1b2c3d.lock").touch()
    (folder / "mean" / ".fold-0.json-0a1b2c3d.part").touch()
    benchmark(make_corpus(), folder, ["mean"], folds=1)
    assert hidden(place) == []
