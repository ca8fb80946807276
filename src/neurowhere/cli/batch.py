"""Many texts encoded: a row of a table, or a folder, for each; some may fail.

Names of folders cannot collide, and the table grows. Whatever ends the command, each folder is
whole or absent, and its row is in the table. A second run finds both and computes the rest.
"""

import csv
import hashlib
import io
import json
import os
import re
import unicodedata
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from neurowhere._tools.files import DAMAGE, INFO_NAME, digest, new_file, replaced, sha256
from neurowhere._tools.replacement import is_temporary, recover, sole_writer
from neurowhere.cli.encode import Options, withholds, write_folder
from neurowhere.cli.options import written
from neurowhere.cli.overlay import FILES, write_overlay
from neurowhere.cli.tally import Tally
from neurowhere.exceptions import NeurowhereError, OutputError, TextError, tell_fault

if TYPE_CHECKING:
    import pandas as pd

    from neurowhere._tools.parallel import Workers
    from neurowhere.inputs import Failure, Text
    from neurowhere.model.encoder import Encoder
    from neurowhere.report.tables import Pair, RowMaker

FOLDERS_AT_ONCE = {"none": 32, "nifti": 8, "all": 4}  # texts per process, by what is drawn
NOTED = "rows", "texts", "recipe", "table"  # what is kept of a stopped table
CHARACTERS_COPIED = 1 << 20  # at a time
WHAT = ("text", "texts", "encoded")


def encode_texts(sources: list[str], options: Options) -> None:
    """Encode texts as they come, or their sentences, into folders or into a table."""
    from neurowhere._tools.parallel import hired, track
    from neurowhere.inputs import iter_texts
    from neurowhere.model.store import load_model
    from neurowhere.report.tables import RowMaker

    model = load_model(options.model)
    found = iter_texts(sources, column=options.column, output=options.output or options.table)
    if options.sentences:
        found = _split(found, model, findings=options.reading["findings"])
    found = track(found, "encoding")
    maker = RowMaker(
        options.regions,
        options.all_regions,
        with_text=options.sentences and not options.no_text,
        sort=options.sort,
        draw_anyway=options.draw_anyway,
    )
    batch = Batch(model, maker, options)
    with hired(options.jobs, options.cluster) as workers:
        if not workers.are_here:
            batch.warm_up(folders=options.output is not None)
        if options.output is None:
            _write_table(batch, found, options.table, workers)
        else:
            _write_folders(batch, found, options.output, workers)


@dataclass(frozen=True, eq=False)
class Batch:
    """How texts are encoded, here or in another process."""

    model: "Encoder"
    maker: "RowMaker"
    options: Options

    def warm_up(self, folders: bool) -> None:
        """Make what is made once, before processes are copied from this one."""
        from neurowhere.inputs import Text

        if folders:
            import neurowhere.report.encoding  # noqa: F401
        make_rows(self, [Text("", "left insula")])


def make_rows(batch: Batch, chunk: "list[Text | Failure]") -> "pd.DataFrame":
    """Return the rows of some texts."""
    from neurowhere.report.tables import encode_items

    return batch.maker.table(list(encode_items(batch.model, chunk, **batch.options.reading)))


def make_folders(batch: Batch, jobs: "list[Job]") -> "list[pd.DataFrame]":
    """Write the folders of some texts, and return their rows."""
    return list(iter_folders(batch, jobs))


def iter_folders(batch: Batch, jobs: "list[Job]") -> "Iterator[pd.DataFrame]":
    """Write the folder of each text, unless it failed, and yield its row."""
    from neurowhere.report.tables import encode_items

    todo = [job.item for job in jobs if not job.is_done]
    pairs = encode_items(batch.model, todo, **batch.options.reading)
    for job in jobs:
        if not job.is_done:
            yield _folder_and_row(batch, job, next(pairs))


def _folder_and_row(batch: Batch, job: "Job", pair: "Pair") -> "pd.DataFrame":
    row = batch.maker.table([pair])
    item, outcome = pair
    folder = ""
    is_drawn = not isinstance(outcome, str) and not withholds(outcome, batch.options)
    if is_drawn and row["problem"].isna().all():
        assert not isinstance(outcome, str)
        ours = replace(batch.options, overwrite=True)  # what is there is this text's
        try:
            write_folder(outcome, Path(job.path), item.name, ours, key=job.key)
        except (NeurowhereError, OSError):
            raise
        except Exception as error:
            row = batch.maker.table([(item, tell_fault(error, outcome.text))])
        else:
            folder = job.folder
    row.insert(1, "folder", folder)
    return row


def _split(
    found: "Iterable[Text | Failure]", model: "Encoder", *, findings: bool
) -> "Iterator[Text | Failure]":
    """Cut texts into sentences."""
    from neurowhere.inputs import Failure, Text, split_sentences

    for item in found:
        if isinstance(item, Text):
            try:
                found_here = split_sentences(item, model.extractor_.counter, findings=findings)
            except NeurowhereError:
                raise
            except Exception as error:
                yield Failure(item.name, tell_fault(error, item.content))
            else:
                yield from found_here
        else:
            yield item


def _write_table(
    batch: Batch, found: "Iterable[Text | Failure]", path: Path | None, workers: "Workers"
) -> None:
    """Write a row for each text, as CSV or as JSON lines; go on with a table that was stopped."""
    options = batch.options
    tally = Tally(WHAT, TextError, goes_on=path is not None, keep_going=options.keep_going)
    trail = Trail.find(path, batch)
    rest = trail.rest(found, tally)
    is_ours = options.overwrite or trail.n_rows > 0
    with written(path, is_ours) as stream:
        trail.copy_rows(stream)
        with tally.until_stopped(), closing(_tables(batch, rest, workers)) as tables:
            for table in tables:
                with tally.undisturbed():
                    rows = _append(table, stream, options, header=not tally.n_seen)
                    trail.add(len(table), rows)
                _count(tally, table)
        tally.refuse_nothing()  # before the file appears
        trail.note(is_whole=not tally.signal)
    if not tally.signal:
        trail.end()
    tally.end(path)


@dataclass
class Trail:
    """Knows which texts have a row in a table, so that a run continues one that was stopped.

    A hidden file beside a table that was stopped says so. It is there before the table, and tells
    of the one that was there, too: whenever a run is killed, it tells of the one that is there.
    """

    path: Path | None  # the table
    recipe: str  # digest of all that the rows depend on beside the texts
    n_rows: int = 0
    texts: str = ""  # digest of the texts of these rows
    _sent: deque[str] = field(default_factory=deque)  # digests of texts that have no row yet
    _noted: list[dict[str, Any]] = field(default_factory=list)  # tables that may be there
    _written: Any = field(default_factory=hashlib.sha256)

    @classmethod
    def find(cls, path: Path | None, batch: Batch) -> "Trail":
        """Find out what an earlier run has written."""
        options, maker = batch.options, batch.maker
        how = [options.as_json, options.keep_formulas, options.draw_anyway, maker.sort]
        header = list(maker.table([]).columns)
        trail = cls(path, digest(_recipe(options), json.dumps([how, header])))
        if path is None:
            return trail
        note = trail._note(path)
        if note.parent.is_dir():
            recover(note.parent, note.name)
        try:
            known = json.loads(note.read_bytes())
            trail._noted = [{name: each[name] for name in NOTED} for each in known]
        except (OSError, *DAMAGE):
            return trail
        if options.overwrite or not path.is_file():
            return trail
        ours = {"recipe": trail.recipe, "table": sha256(path)}
        for noted in trail._noted:
            if noted == noted | ours:
                trail.n_rows, trail.texts, trail._noted = noted["rows"], noted["texts"], [noted]
                return trail
        raise OutputError(
            f"{path} was stopped before its end, and then changed, or was encoded in another "
            "way; choose another file, or add --overwrite"
        )

    @staticmethod
    def _note(path: Path) -> Path:
        return path.with_name(f".{path.name}.unfinished")

    def copy_rows(self, stream: TextIO) -> None:
        """Copy the rows of an earlier run."""
        if self.path is not None and self.n_rows:
            with self.path.open(encoding="utf-8", newline="") as rows:
                while some := rows.read(CHARACTERS_COPIED):
                    stream.write(some)
                    self._written.update(some.encode("utf-8"))

    def rest(self, found: "Iterable[Text | Failure]", tally: "Tally") -> "Iterator[Text | Failure]":
        """Yield the texts that have no row yet; the first must be those that have one."""
        items, texts, n_kept = iter(found), "", 0
        for item in islice(items, self.n_rows):
            texts = digest(texts, _digest_of(item))
            tally.keep()
            n_kept += 1
        if self.n_rows and (n_kept, texts) != (self.n_rows, self.texts):
            raise OutputError(
                f"{self.path} holds the rows of other texts; choose another file, or add "
                "--overwrite"
            )
        for item in items:
            self._sent.append(_digest_of(item))
            yield item

    def add(self, n_rows: int, rows: str) -> None:
        """Record that the next texts have their rows."""
        self._written.update(rows.encode("utf-8"))
        self.n_rows += n_rows
        for _ in range(n_rows):
            self.texts = digest(self.texts, self._sent.popleft())

    def note(self, *, is_whole: bool) -> None:
        """Leave a note of a table that was stopped, or takes the place of such a one."""
        if self.path is None or (is_whole and not self._noted):
            return
        rows = self.n_rows, self.texts, self.recipe, self._written.hexdigest()
        known = [*self._noted, dict(zip(NOTED, rows, strict=True))]
        with new_file(self._note(self.path), overwrite=True) as stream:
            json.dump(known, stream)

    def end(self) -> None:
        """Remove the note beside a table that is whole."""
        if self.path is not None:
            self._note(self.path).unlink(missing_ok=True)


def _digest_of(item: "Text | Failure") -> str:
    from neurowhere.inputs import Text

    content = item.content if isinstance(item, Text) else item.reason
    return digest(item.name, "\0", content)


def _tables(
    batch: Batch, found: "Iterable[Text | Failure]", workers: "Workers"
) -> "Generator[pd.DataFrame, None, None]":
    """Yield the rows of a few texts at a time; when stopped, the rows that are done."""
    from neurowhere._tools.parallel import run_in_order
    from neurowhere.report.tables import chunks_of, encode_items

    if not workers.are_here:
        yield from run_in_order(make_rows, batch, chunks_of(found), workers)
        return
    for chunk in chunks_of(found):
        done: list[Pair] = []
        try:
            for pair in encode_items(batch.model, chunk, **batch.options.reading):
                done.append(pair)  # noqa: PERF402 - what is done is there when this is stopped
        except KeyboardInterrupt:
            if done:
                yield batch.maker.table(done)
            raise
        yield batch.maker.table(done)


def _append(table: "pd.DataFrame", stream: TextIO, options: Options, *, header: bool) -> str:
    """Write rows, all at once, so that none is cut where the work is stopped; return them."""
    if options.as_json:
        rows: str = table.to_json(None, orient="records", lines=True, force_ascii=False)
    else:
        rows = rows_of_csv(table, options, header=header)
    stream.write(rows)
    return rows


def _write_folders(
    batch: Batch, found: "Iterable[Text | Failure]", output: Path, workers: "Workers"
) -> None:
    """Write a folder for each text and a table of all; what is written stays."""
    options = batch.options
    tally = Tally(WHAT, TextError, goes_on=True, keep_going=options.keep_going)
    with held(output, options.overwrite):
        with (
            closing(Shelf.open(output, batch.maker, options)) as shelf,
            tally.until_stopped(),
            closing(_made(batch, map(shelf.job, found), workers)) as made,
        ):
            for row in made:
                if row is None:
                    tally.keep()
                    continue
                shelf.keep(row)
                _count(tally, row)
        tally.refuse_nothing()
        if not tally.signal and (output / TABLE_NAME).is_file():
            write_overlay(output, output / TABLE_NAME, batch.model, options)
    tally.end(output / TABLE_NAME)


def _made(
    batch: Batch, jobs: "Iterator[Job]", workers: "Workers"
) -> "Generator[pd.DataFrame | None, None, None]":
    """Yield the row of each text whose folder is made, and None for one that was there."""
    from neurowhere._tools.parallel import run_in_order
    from neurowhere.model.text_model import CHUNK_ENCODED

    if workers.are_here:  # each as soon as it is done
        while some := list(islice(jobs, CHUNK_ENCODED)):
            rows = iter_folders(batch, some)
            yield from (None if job.is_done else next(rows) for job in some)
        return
    size = FOLDERS_AT_ONCE[batch.options.written_maps]
    sent: deque[list[Job]] = deque()

    def tasks() -> "Iterator[list[Job]]":
        while some := list(islice(jobs, size)):
            sent.append(some)
            yield [job for job in some if not job.is_done]

    for rows in map(iter, run_in_order(make_folders, batch, tasks(), workers)):
        yield from (None if job.is_done else next(rows) for job in sent.popleft())


def _count(tally: Tally, table: "pd.DataFrame") -> None:
    """Count rows: those that have a problem, and those without a map."""
    is_failed = table["problem"].notna()
    failed = table[is_failed]
    n_unmapped = int((table["region"].isna() & ~is_failed).sum())
    tally.add(len(table), zip(failed["id"], failed["problem"], strict=True), n_unmapped)


# ---- folders

TABLE_NAME = "table.csv"
NUMBERS = "%.6g"
# Characters and bytes of the name of a text's folder. Some file systems take no more than 143
# bytes, and the hidden name of a folder that is being written is longer.
LONGEST_NAME, MOST_BYTES = 80, 120
UNSAFE = re.compile(r"[^\w.-]+")
REPEATED = "~"  # is in no name that `Names` makes of an id


@contextmanager
def held(output: Path, overwrite: bool) -> Iterator[None]:
    """Keep other processes from a folder of ours, and remove it if nothing is written after all."""
    if output.exists() and not output.is_dir():
        raise OutputError(f"{output} is a file; give a folder to write to")
    if not (overwrite or _is_ours(output)):
        raise OutputError(f"{output} is not empty; choose another folder, or add --overwrite")
    with ExitStack() as stack:
        stack.callback(_remove_if_empty, output)
        stack.enter_context(sole_writer(output))
        recover(output)
        yield


def _is_ours(folder: Path) -> bool:
    """Return whether a batch may go on in a folder: it has a table, or only what we write there.

    The table comes after the first text: a batch that was killed in between has none.
    """
    if not folder.is_dir() or (folder / TABLE_NAME).is_file():
        return True
    others = [path for path in folder.iterdir() if not is_temporary(path.name)]
    return all(_key_of(path) is not None for path in others)


def _key_of(folder: Path) -> object:
    """Return the key of the text that a folder holds, None if it holds none of a batch."""
    try:
        return json.loads((folder / INFO_NAME).read_bytes())["about"]["key"]
    except (OSError, *DAMAGE):
        return None


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):  # not empty, or never made
        folder.rmdir()


class Job(NamedTuple):
    """A text, the name of its folder, and whether it was encoded by an earlier run."""

    item: "Text | Failure"
    folder: str
    key: str  # digest of the text, and of how it is encoded
    is_done: bool
    path: str = ""


@dataclass
class Shelf:
    """Folders of texts, and the rows of the table that say what is in them.

    `rows` are cells of the texts that an earlier run has encoded, by the name of the folder.
    """

    output: Path
    maker: "RowMaker"
    options: Options
    rows: dict[str, list[str]] = field(default_factory=dict)
    _waiting: list[str] = field(default_factory=list)  # rows, until a first text is encoded
    _table: TextIO | None = None
    _has_results: bool = False

    @classmethod
    def open(cls, output: Path, maker: "RowMaker", options: Options) -> "Shelf":
        """Find out what an earlier run has done."""
        shelf = cls(output, maker, options)
        if not options.overwrite:
            shelf.rows = shelf._read_rows()
            shelf._has_results = bool(shelf.rows)
        return shelf

    def __post_init__(self) -> None:
        self._names = Names()
        self._recipe = _recipe(self.options)

    def job(self, item: "Text | Failure") -> Job:
        """Return a text with its folder."""
        from neurowhere.inputs import Text

        folder = self._names.name_for(item.name)
        if not isinstance(item, Text):
            return Job(item, folder, "", False)
        key = digest(self._recipe, "\0", item.name, "\0", item.content)
        return Job(item, folder, key, self._is_done(folder, key), str(self.output / folder))

    def keep(self, row: "pd.DataFrame") -> None:
        """Write the row of a text into the table."""
        self._has_results |= bool(row["problem"].isna().all())
        self._waiting.append(rows_of_csv(row, self.options, header=False))
        if self._has_results:  # without any there is no table
            self._write_waiting()

    def close(self) -> None:
        """End the table."""
        if self._table is not None:
            self._table.close()

    def _write_waiting(self) -> None:
        if self._table is None:
            self._table = self._begin_table()
        self._table.write("".join(self._waiting))
        self._table.flush()
        self._waiting.clear()

    def _begin_table(self) -> TextIO:
        """Write the whole rows of an earlier run, and return the table to continue it."""
        path = self.output / TABLE_NAME
        known = io.StringIO()
        rows = [self._header(), *self.rows.values()]
        csv.writer(known, lineterminator="\n").writerows(rows)
        with replaced(path) as stream:
            stream.write(known.getvalue().encode("utf-8"))
        return path.open("a", encoding="utf-8", newline="")

    def _is_done(self, folder: str, key: str) -> bool:
        path = self.output / folder
        if self.options.overwrite or not (path.is_dir() and any(path.iterdir())):
            return False
        if _key_of(path) != key:
            raise OutputError(
                f"{path} holds another text, or one that was encoded in another way; choose "
                "another folder, or add --overwrite"
            )
        return folder in self.rows

    def _header(self) -> list[str]:
        table = self.maker.table([])
        table.insert(1, "folder", "")
        return next(csv.reader([rows_of_csv(table, self.options, header=True)]))

    def _read_rows(self) -> dict[str, list[str]]:
        """Read the rows of texts that were encoded; what failed is tried again."""
        path = self.output / TABLE_NAME
        if not path.is_file():
            return {}
        header = self._header()
        folder, problem = header.index("folder"), header.index("problem")
        try:
            with path.open(encoding="utf-8", newline="") as stream:
                first, *rows = csv.reader(stream)
        except (ValueError, csv.Error):
            first, rows = [], []
        if first != header:
            raise OutputError(
                f"{path} is not the table of such a batch; choose another folder, or add "
                "--overwrite"
            )
        whole = (row for row in rows if len(row) == len(header))
        return {row[folder]: row for row in whole if row[folder] and not row[problem]}


def _recipe(options: Options) -> str:
    """Return a digest of all that a folder depends on beside the text."""
    from importlib.metadata import version

    from neurowhere.model.store import SHIPPED

    model = SHIPPED if options.model is None else options.model
    how = {
        "version": version("neurowhere"),
        "model": sha256(model / INFO_NAME),
        "like": None if options.like is None else os.fspath(options.like.absolute()),
        "resolution_mm": options.resolution,
        "with_text": not options.no_text,
        "maps": options.written_maps,
        **options.reading,
    }
    atlas = options.regions
    return digest(json.dumps(how), "\n".join(atlas.names), atlas.regions)


@dataclass
class Names:
    """Names of folders, each given once.

    A name has no character that a file system or a shell takes for something else, is short enough,
    and differs from all others in more than case. Texts of the same name are numbered.

    >>> names = Names()
    >>> [names.name_for(id) for id in ("a", "a", "a-2", "A", "../etc/x y", "table.csv", "-")]
    ['a', 'a~2', 'a-2', 'A~3', 'etc_x_y', 'table.csv~2', 'text']
    """

    _counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys((TABLE_NAME, *FILES), 1))

    def name_for(self, text: str) -> str:
        """Return a new name that is like the name of a text."""
        plain = _shortened(UNSAFE.sub("_", unicodedata.normalize("NFC", text)).lstrip("._-"))
        plain = plain.rstrip("._") or "text"
        alike = unicodedata.normalize("NFC", plain.casefold())
        self._counts[alike] = number = self._counts.get(alike, 0) + 1
        return plain if number == 1 else f"{plain}{REPEATED}{number}"


def _shortened(name: str) -> str:
    return name[:LONGEST_NAME].encode("utf-8", "replace")[:MOST_BYTES].decode("utf-8", "ignore")


def rows_of_csv(table: "pd.DataFrame", options: Options, *, header: bool) -> str:
    """Return rows of the table of a batch as CSV."""
    from neurowhere.report.tables import to_csv

    keep = options.keep_formulas
    return to_csv(table, header=header, keep_formulas=keep, float_format=NUMBERS)
