import importlib

import pytest

import neurowhere


def test_public_names_are_pinned():
    assert neurowhere.__all__ == [
        "Atlas",
        "Benchmark",
        "Candidate",
        "Comparison",
        "Contrast",
        "Corpus",
        "Decoding",
        "DensityEstimator",
        "Document",
        "Encoder",
        "Encoding",
        "Overlay",
        "Summary",
        "TermCounter",
        "TermExtractor",
        "TermMap",
        "TfIdf",
        "Vocabulary",
        "VoxelGrid",
        "benchmark",
        "compare",
        "contrast_documents",
        "create_app",
        "decode",
        "decode_many",
        "default_atlas",
        "iter_documents",
        "iter_term_maps",
        "load_model",
        "mix",
        "name_regions",
        "overlay",
        "parcellate_terms",
        "read_corpus",
        "read_mentions",
        "save_model",
        "summarise",
        "write_term_maps",
    ]
    assert dir(neurowhere) == neurowhere.__all__


ROOMS = {
    "corpus": "SECTIONS Corpus Document Problem concatenate iter_documents read_corpus",
    "inputs": "Failure Text holds_many iter_texts read_text split_sentences",
}


@pytest.mark.parametrize("room", ROOMS)
def test_names_of_rooms_are_pinned(room):
    assert importlib.import_module(f"neurowhere.{room}").__all__ == ROOMS[room].split()


@pytest.mark.parametrize("name", neurowhere.__all__)
def test_each_comes_from_its_home(name):
    home = importlib.import_module(f"neurowhere.{neurowhere._HOMES[name]}")
    assert getattr(neurowhere, name) is getattr(home, name)


def test_other_names_are_missing_as_usual():
    with pytest.raises(AttributeError, match="no attribute 'decoder'"):
        _ = neurowhere.decoder
