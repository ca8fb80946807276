import neurowhere.inputs


def test_public_names_are_pinned():
    assert neurowhere.inputs.__all__ == [
        "Failure",
        "Text",
        "holds_many",
        "is_foreign",
        "iter_texts",
        "read_text",
        "split_sentences",
    ]
