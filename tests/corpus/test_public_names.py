import neurowhere.corpus


def test_public_names_are_pinned():
    assert neurowhere.corpus.__all__ == [
        "SECTIONS",
        "Corpus",
        "Document",
        "Problem",
        "concatenate",
        "iter_documents",
        "read_corpus",
    ]
