import io
import json
import os
import shutil
import signal
import time
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from tests.model.test_encoder import every_encoder, make_atlas
from tests.studies import GRID, TERMS, make_corpus

from neurowhere import Encoder, Vocabulary, load_model, save_model
from neurowhere.exceptions import FitError, ModelError, OutputError
from neurowhere.learn import Linear
from neurowhere.learn.blend import Blend
from neurowhere.model.decoding import decode
from neurowhere.model.ranges import RANGES
from neurowhere.model.store import MAX_TEXT_BYTES, PARAMETERS, verify_model

CORPUS, TEST = make_corpus(), make_corpus(10, seed=1)
WAIT_SECONDS = 30


def fitted():
    """Models with everything that a folder may hold."""
    vocabulary = Vocabulary(
        TERMS, {"amygdaloid body": "amygdala", "striate, area": "visual cortex"},
        {"amygdala": "anatomy", "motor cortex": "anatomy"},
    )  # fmt: skip
    options = {"section_weights": {"abstract": np.float32(2)}, "lambdas": np.array([3.0, 1.0])}
    lateral = make_corpus(160, lateral=True)
    return Encoder(GRID, vocabulary=vocabulary, laterality=True, seed=7, **options).fit(lateral)


@pytest.fixture(scope="module")
def model():
    return fitted()


@pytest.fixture(scope="module")
def original(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "model"
    save_model(model, folder)
    return folder


@pytest.fixture
def saved(original, tmp_path):
    return shutil.copytree(original, tmp_path / "model")


@every_encoder
def test_a_loaded_model_predicts_the_same_bits(encoder, tmp_path):
    model = clone(encoder).fit(CORPUS)
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(TEST), model.predict(TEST), strict=True)
    assert loaded.score(TEST) == model.score(TEST)
    assert loaded.summary() == model.summary()
    assert loaded.partition == model.partition
    assert loaded.partition.names == model.partition.names
    again = clone(loaded).fit(CORPUS)
    np.testing.assert_array_equal(again.predict(TEST), model.predict(TEST))


def test_everything_that_was_learned_comes_back(model, saved):
    loaded = load_model(str(saved))
    assert loaded.vocabulary_ == model.vocabulary_
    assert loaded.extractor_.terms == model.extractor_.terms
    assert "left amygdala" in loaded.extractor_.terms
    assert (loaded.penalty_, loaded.sharpness_) == (model.penalty_, model.sharpness_)
    assert loaded.certificate_ == model.certificate_
    np.testing.assert_array_equal(loaded.choice_.scores, model.choice_.scores)
    assert loaded.training_ == model.training_
    assert loaded.seed == 7
    texts = ["left amygdaloid body", "striate area", "nothing"]
    np.testing.assert_array_equal(loaded.predict(texts), model.predict(texts), strict=True)
    found, expected = loaded.term_map("left amygdala"), model.term_map("left amygdala")
    np.testing.assert_array_equal(found.effect, expected.effect)
    assert found.method == "learned"


def test_synonyms_of_the_same_words_stand_for_the_same_term(tmp_path):
    synonyms = {"striate-area": "visual cortex", "striate area": "amygdala"}
    model = Encoder(GRID, "l2", vocabulary=Vocabulary(TERMS, synonyms)).fit(CORPUS)
    save_model(model, tmp_path / "model")
    text = ["striate area"]
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict(text), model.predict(text))


def test_saving_a_loaded_model_gives_the_same_files(saved, tmp_path):
    save_model(load_model(saved), tmp_path / "again")
    infos = [json.loads((path / "info.json").read_text()) for path in (saved, tmp_path / "again")]
    assert infos[0]["sha256"] == infos[1]["sha256"]


def test_files_are_plain(saved):
    names = {file.name for file in saved.iterdir()}
    assert names == {
        "info.json",
        "model.json",
        "partition.npz",
        "predictor.npz",
        "terms.npz",
        "vocabulary.csv",
    }
    for name in names - {"info.json"}:
        assert b"pickle" not in (saved / name).read_bytes()
    description = json.loads((saved / "model.json").read_text())
    assert description["parameters"]["lambdas"] == [3.0, 1.0]
    assert description["training"]["studies"] == 160
    assert (saved / "vocabulary.csv").read_text().startswith("term,category,synonyms\n")


FILES = ["predictor.npz", "model.json", "partition.npz", "terms.npz", "vocabulary.csv"]


def test_a_folder_of_the_version_before_is_read(model, saved):
    info = json.loads((saved / "info.json").read_text())
    (saved / "info.json").write_text(json.dumps({**info, "format_version": 3}))
    np.testing.assert_array_equal(load_model(saved).predict(TEST), model.predict(TEST))


@pytest.mark.parametrize("name", FILES)
def test_a_changed_truncated_or_missing_file_is_refused(saved, name):
    content = (saved / name).read_bytes()
    changed = bytearray(content)
    changed[len(content) // 2] ^= 1
    for damaged in (bytes(changed), content[:-1], content[: len(content) // 2], b""):
        (saved / name).write_bytes(damaged)
        with pytest.raises(ModelError, match=f"{name} was changed since it was written; fetch"):
            load_model(saved)
    (saved / name).unlink()
    with pytest.raises(ModelError, match=f"{name} is missing"):
        load_model(saved)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format_version": 2}, "has format version 2, this program reads 3 to 4; fetch or fit it"),
        ({"format_version": 5}, "has format version 5, this program reads up to 4; upgrade"),
        ({"kind": "corpus"}, "holds a corpus, not a model"),
        ({"sha256": None}, "is damaged or not of neurowhere"),
        ({"format_version": None}, "is damaged or not of neurowhere"),
        ({"format_version": -1}, "has no checksums or no sane version"),
        ({"format_version": 0}, "has no checksums or no sane version"),
        ({"sha256": {}}, "has no checksums or no sane version"),
    ],
)
def test_a_foreign_older_or_newer_folder_is_refused(saved, change, message):
    info = json.loads((saved / "info.json").read_text())
    (saved / "info.json").write_text(json.dumps({**info, **change}))
    with pytest.raises(ModelError, match=message):
        load_model(saved)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff\xfe", b'{"made_by": "pubget"}'])
def test_a_damaged_info_is_refused(saved, content):
    (saved / "info.json").write_bytes(content)
    with pytest.raises(ModelError, match="is damaged or not of neurowhere"):
        load_model(saved)


def forge(folder, name, content):
    """Change a file and its checksum, as a faulty program would."""
    (folder / name).write_bytes(content)
    info = json.loads((folder / "info.json").read_text())
    from neurowhere._tools.files import sha256

    info["sha256"] = {**info["sha256"], name: sha256(folder / name)}
    (folder / "info.json").write_text(json.dumps(info))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("model.json", b"{}"),
        ("model.json", b"[1"),
        ("predictor.npz", b"PK\x03"),
        ("terms.npz", b"PK"),
        ("partition.npz", b""),
        ("vocabulary.csv", b"term,category,synonyms\namygdala,,\n"),
        ("vocabulary.csv", b"\xff\xff"),
    ],
)
def test_files_that_do_not_fit_together_are_refused(saved, name, content):
    forge(saved, name, content)
    with pytest.raises(ModelError, match="is not a whole model") as caught:
        load_model(saved)
    assert "\n" not in str(caught.value)


def test_pickled_arrays_are_never_loaded(saved, tmp_path):
    class Trap:
        def __reduce__(self):
            return (tmp_path.joinpath("sprung").touch, ())

    trap = np.array([Trap()], dtype=object)
    np.savez(tmp_path / "trap.npz", mean=trap, coefficients=trap, centre=trap, sharpness=trap)
    forge(saved, "predictor.npz", (tmp_path / "trap.npz").read_bytes())
    with pytest.raises(ModelError, match="is not a whole model"):
        load_model(saved)
    assert not (tmp_path / "sprung").exists()


def test_other_folders_and_files_are_refused(tmp_path):
    with pytest.raises(ModelError, match=r"but cannot read .*info.json: No such file"):
        load_model(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(ModelError, match="Not a directory"):
        load_model(tmp_path / "file")
    CORPUS.save(tmp_path / "corpus")
    with pytest.raises(ModelError, match="holds a corpus, not a model"):
        load_model(tmp_path / "corpus")


def test_a_model_is_written_whole_or_not_at_all(model, saved, tmp_path, monkeypatch):
    with pytest.raises(ModelError, match="call fit before saving"):
        save_model(Encoder(GRID), tmp_path / "new")
    with pytest.raises(OutputError, match="exists and is not empty"):
        save_model(model, saved)

    def full_disk(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Vocabulary, "save", full_disk)
    with pytest.raises(OutputError, match="No space left on device"):
        save_model(model, tmp_path / "new")
    with pytest.raises(OutputError, match="No space left on device"):
        save_model(model, saved, overwrite=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model"]
    verify_model(saved)


def test_verify_counts_the_files(saved):
    assert verify_model(saved) == 6


def refuse(folder, message):
    """Both ways into a model refuse it, in one line."""
    for read in (load_model, verify_model):
        with pytest.raises(ModelError, match=message) as caught:
            read(folder)
        assert "\n" not in str(caught.value)


def arrays_of(file):
    """Read the arrays of a file, and close it."""
    with np.load(file) as arrays:
        return dict(arrays)


def forge_arrays(folder, file, **changes):
    arrays = arrays_of(folder / file)
    np.savez(folder / file, **(arrays | changes))
    forge(folder, file, (folder / file).read_bytes())


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    ("file", "name"),
    [("predictor.npz", "mean"), ("terms.npz", "idf"), ("partition.npz", "affine")],
)
def test_numbers_that_are_not_finite_are_refused(saved, file, name, value):
    values = arrays_of(saved / file)[name]
    values.flat[1] = value
    forge_arrays(saved, file, **{name: values})
    refuse(saved, f"numbers in {name} that are not finite")


def test_a_scale_that_makes_numbers_infinite_is_refused(small):
    scale = arrays_of(small / "predictor.npz")["coefficients_scale"]
    forge_arrays(small, "predictor.npz", coefficients_scale=np.full_like(scale, 3e38))
    refuse(small, "numbers in coefficients that are not finite")


def test_a_model_that_predicts_no_density_is_no_right_one(saved):
    values = arrays_of(saved / "predictor.npz")["mean"]
    forge_arrays(saved, "predictor.npz", mean=np.zeros_like(values))
    with pytest.raises(ModelError, match=r"predicts what is no density\)?; fetch or fit"):
        verify_model(saved)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("sharpness", -5, "between 0 and 1,000, got -5"),
        ("bandwidth", float("nan"), "between 0 and 1,000, got nan"),
        ("hedge_weight", 1e308, r"between 0 and 1,000, got 1e\+308"),
        ("hedge_weight", None, "between 0 and 1,000, got nothing"),
        ("hedge_weight", "1", "between 0 and 1,000, got what is no number"),
        ("section_weights", {"title": 1, "body": -2}, "between 0 and 1,000, got -2"),
        ("lambdas", [3, float("inf")], r"between 0 and 1e\+15, got inf"),
        ("negation", 7, "a whole number between 0 and 1, got 7"),
        ("rank", 2.5, r"a whole number between 1 and 100,000, got 2.5"),
        ("seed", 10**400, "got what is no number"),
        ("bandwidth", [1, 2], "between 0 and 1,000, got a list"),
        ("section_weights", [1, 2], "between 0 and 1,000, got a list"),
        ("section_weights", True, "between 0 and 1,000, got a bool"),
        ("lambdas", [[1], [1, 2]], "is not a whole model"),
    ],
    ids=str,
)
def test_a_parameter_out_of_range_is_refused_by_name_and_range(saved, name, value, told):
    description = json.loads((saved / "model.json").read_text())
    description["parameters"][name] = value
    forge(saved, "model.json", json.dumps(description).encode())
    refuse(saved, told)
    if "whole model" not in told:
        refuse(saved, f"expected {name} ")


@pytest.mark.parametrize("name", ["studies", "peaks"])
def test_numbers_of_the_training_are_checked_too(saved, name):
    description = json.loads((saved / "model.json").read_text())
    description["training"][name] = -1
    forge(saved, "model.json", json.dumps(description).encode())
    refuse(saved, f"expected {name} a whole number between 0 and")


@pytest.mark.parametrize(
    ("file", "name", "value"),
    [
        ("terms.npz", "idf", -1),
        ("predictor.npz", "sharpness", -5),
        ("predictor.npz", "mean", 3e38),
        ("predictor.npz", "coefficients", 3e38),
        ("partition.npz", "affine", 1e30),
    ],
)
def test_an_array_out_of_range_is_refused_by_name_and_range(saved, file, name, value):
    values = arrays_of(saved / file)[name].copy()
    values.flat[-1] = value
    forge_arrays(saved, file, **{name: values})
    refuse(saved, f"expected {name} between .* and .*, got {value:g}".replace("+", r"\+"))


@pytest.mark.parametrize(
    ("name", "value"), [("strength", -0.1), ("kept", 2), ("loadings", 3e38), ("components", 3e38)]
)
def test_a_ridge_out_of_range_is_refused(name, value, tmp_path):
    model = Encoder(GRID, "likelihood", vocabulary=TERMS, rank=2).fit(CORPUS)
    d, m = model.predictor_.n_terms, GRID.n_regions
    blend = Blend(np.ones((d, 1), np.float32), np.zeros((1, m), np.float32))
    model.predictor_ = replace(model.predictor_, blend=blend)
    save_model(model, tmp_path / "right")
    assert load_model(tmp_path / "right").predictor_.blend.kept == blend.kept
    wrong = replace(blend, **{name: np.full_like(getattr(blend, name), value, dtype=np.float32)})
    model.predictor_ = replace(model.predictor_, blend=wrong)
    save_model(model, tmp_path / "wrong")
    refuse(tmp_path / "wrong", f"expected blend_{name} between")


@pytest.mark.parametrize("name", ["idf", "studies", "log_totals", "centres", "spreads"])
def test_terms_without_a_number_are_refused(saved, name):
    values = arrays_of(saved / "terms.npz")[name]
    forge_arrays(saved, "terms.npz", **{name: values[1:]})
    refuse(saved, f"expected {name} of {len(values)} terms, got {len(values) - 1} numbers")


def test_an_affine_that_cannot_be_inverted_is_refused(saved):
    affine = arrays_of(saved / "partition.npz")["affine"]
    forge_arrays(saved, "partition.npz", affine=affine * [[1], [1], [1], [0]])
    refuse(saved, "cannot be inverted")


def test_a_model_that_lists_no_term_decodes_nothing(saved):
    studies = arrays_of(saved / "terms.npz")["studies"]
    forge_arrays(saved, "terms.npz", studies=np.zeros_like(studies))
    with pytest.raises(ModelError, match="lists no term"):
        decode(load_model(saved), (0, 0, 0))


def test_a_fit_refuses_what_a_model_may_not_hold():
    with pytest.raises(FitError, match=r"expected bandwidth between 0 and 1,000, got nan"):
        Encoder(GRID, "l2", vocabulary=TERMS, bandwidth=float("nan")).fit(CORPUS)


def test_each_number_of_a_model_has_a_range(saved):
    named = RANGES["model.json"]
    words = {"loss", "text", "constraint", "features"}
    assert {f"parameters.{name}" for name in PARAMETERS if name not in words} <= named.keys()
    for file in saved.glob("*.npz"):
        numbers = {name for name, values in arrays_of(file).items() if values.dtype.kind == "f"}
        assert numbers <= RANGES[file.name].keys()


@pytest.fixture
def small(model, tmp_path):
    save_model(model, tmp_path / "small", small=True)
    return tmp_path / "small"


def test_a_calibration_that_is_not_finite_is_refused(saved):
    np.save(saved / "calibration.npy", np.array([0.1, np.nan]))
    forge(saved, "calibration.npy", (saved / "calibration.npy").read_bytes())
    refuse(saved, "that are not finite")


def test_an_unknown_loss_is_refused(saved):
    description = json.loads((saved / "model.json").read_text())
    description["parameters"]["loss"] = "l7"
    forge(saved, "model.json", json.dumps(description).encode())
    refuse(saved, "expected loss among .*, got 'l7'")


def test_studies_without_an_id_are_refused(saved):
    np.savez(saved / "studies.npz", ids=np.array(["1", "2"]), vectors=np.ones((3, 2), np.float32))
    forge(saved, "studies.npz", (saved / "studies.npz").read_bytes())
    refuse(saved, "expected an id for each study, got 2 ids")


def test_regions_without_an_id_are_refused(tmp_path):
    save_model(
        Encoder(make_atlas(), "l2", vocabulary=TERMS, brain=GRID).fit(CORPUS), tmp_path / "m"
    )
    arrays = arrays_of(tmp_path / "m" / "partition.npz")
    few = {"ids": arrays["ids"][:-1], "names": arrays["names"][:-1]}
    forge_arrays(tmp_path / "m", "partition.npz", **few)
    refuse(tmp_path / "m", "expected an id for each region")


def test_a_file_without_a_checksum_is_refused(saved):
    np.save(saved / "calibration.npy", np.linspace(0, 1, 5))
    refuse(saved, "calibration.npy has no checksum")


@pytest.fixture
def impatient():
    """End what waits for ever with an error, after some seconds."""

    def give_up(*_):
        raise TimeoutError("waits for a pipe")

    if not hasattr(signal, "SIGALRM"):
        pytest.skip("makes pipes, and waits for signals")
    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(WAIT_SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("name", ["info.json", "model.json", "predictor.npz", "calibration.npy"])
@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_what_is_no_plain_file_is_refused_before_it_is_read(saved, name, kind, impatient):
    (saved / name).unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(saved / name)  # who opens it waits for a writer
    elif kind == "device":
        (saved / name).symlink_to("/dev/null")  # others have no end
    else:
        (saved / name).mkdir()
    refuse(saved, f"expected a plain file, but .*{name} is none")


def array_header(*shape):
    """Return a file that says that it holds an array of float64, and holds none."""
    stream = io.BytesIO()
    described = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, described)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("shape", "n_bytes"), [((10**12,), "8,000,000,000,000"), ((-1, 1), "-8")], ids=str
)
@pytest.mark.parametrize("name", ["predictor.npz", "calibration.npy"])
def test_arrays_that_are_too_large_are_refused_before_they_are_read(saved, name, shape, n_bytes):
    content = io.BytesIO(array_header(*shape))
    if name.endswith(".npz"):
        with zipfile.ZipFile(content := io.BytesIO(), "w") as archive:
            archive.writestr("mean.npy", array_header(*shape))
    forge(saved, name, content.getvalue())
    refuse(saved, f"arrays of {name} would take {n_bytes} bytes, more than 8,589,934,592")


def test_files_that_are_too_large_are_refused_before_they_are_read(saved):
    with (saved / "vocabulary.csv").open("ab") as stream:
        stream.truncate(MAX_TEXT_BYTES + 1)  # a hole: it takes no space on disk
    refuse(saved, "vocabulary.csv has 268,435,457 bytes, more than 268,435,456")


def test_a_large_model_loads_in_a_second(tmp_path):
    """As large as the ℓ1 model of 592 terms on a 4-mm grid: 70 MB of coefficients."""
    terms = [f"term{i}" for i in range(592)]
    model = Encoder(make_atlas(), "l2", vocabulary=terms, brain=GRID)
    texts = [" ".join(terms)] * 50
    model.fit(texts, [[[0, -92, 2]]] * 50)
    mask = np.ones((30, 31, 32), dtype=bool)
    from neurowhere import VoxelGrid

    model.partition_ = model.brain_ = VoxelGrid(mask=(mask, np.diag([4.0, 4, 4, 1])))
    rng = np.random.default_rng(0)
    coefficients = rng.standard_normal((592, mask.size), dtype=np.float32)
    model.predictor_ = Linear(rng.random(mask.size), coefficients, rng.random(592))
    save_model(model, tmp_path / "model")
    seconds = []
    for _ in range(3):  # the best of them: a machine may have other things to do
        start = time.process_time()
        loaded = load_model(tmp_path / "model")
        seconds.append(time.process_time() - start)
    assert min(seconds) < 1
    np.testing.assert_array_equal(loaded.predict(texts[:3]), model.predict(texts[:3]))


def test_a_small_model_is_smaller_and_almost_the_same(tmp_path):
    encoder = Encoder(GRID, "likelihood", vocabulary=TERMS, rank=4, repeats=1)
    model = encoder.fit(make_corpus(120))
    save_model(model, tmp_path / "whole")
    save_model(model, tmp_path / "small", small=True)
    whole, small = load_model(tmp_path / "whole"), load_model(tmp_path / "small")
    np.testing.assert_array_equal(whole.predict(TEST), model.predict(TEST))
    # Of four terms with strong maps; on real studies it is ten times less.
    assert abs(small.score(TEST) - model.score(TEST)) < 0.005
    assert small.predict(TEST).dtype == np.float32
    sizes = [(tmp_path / name / "predictor.npz").stat().st_size for name in ("whole", "small")]
    assert sizes[1] < sizes[0] / 2
    np.testing.assert_array_equal(small.calibration_, model.calibration_)
    assert small.neighbours_.ids.tolist() == model.neighbours_.ids.tolist()
    for each in (whole, small):
        near = each.encode("amygdala").similar
        assert near["id"].tolist()[:1] == model.encode("amygdala").similar["id"].tolist()[:1]
    again = tmp_path / "again"
    save_model(whole, again)
    assert (again / "predictor.npz").read_bytes() == (
        tmp_path / "whole" / "predictor.npz"
    ).read_bytes()
    verify_model(tmp_path / "small")
