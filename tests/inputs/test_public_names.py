import neurowhere.inputs


def test_public_names_are_pinned():
    assert neurowhere.inputs.__all__ == [
        "Failure",
        "Text",
        "holds_many",
        "iter_texts",
        "read_text",
        "split_sentences",
    ]
