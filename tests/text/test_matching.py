from hypothesis import given
from hypothesis import strategies as st

from neurowhere.text import matching
from neurowhere.text.matching import FIRST_WORD, SKIPPED, UNKNOWN, NameTree, TokenIds

N_WORDS = 4
WORDS = st.integers(FIRST_WORD, FIRST_WORD + N_WORDS - 1)
NAMES = st.lists(
    st.lists(WORDS, min_size=1, max_size=4).map(tuple), min_size=1, max_size=8, unique=True
)
TOKENS = st.lists(st.one_of(WORDS, st.sampled_from([UNKNOWN, SKIPPED])), max_size=25)


def longest_slowly(names, ids, ends):
    """The definition: from the left, the longest name at each word, which consumes its words.

    A name has its words in one sentence.
    """
    kept = [i for i, token in enumerate(ids) if token != SKIPPED]
    words = [ids[i] for i in kept]
    found, i = [], 0
    while i < len(words):
        lengths = [
            n
            for n in range(1, min(4, len(words) - i) + 1)
            if not any(kept[i] < end <= kept[i + n - 1] for end in ends)
        ]
        n = max((n for n in lengths if tuple(words[i : i + n]) in names), default=0)
        if n:
            found.append((kept[i], kept[i + n - 1] + 1, names[tuple(words[i : i + n])]))
        i += max(n, 1)
    return found


@given(NAMES, TOKENS, st.sets(st.integers(0, 25)))
def test_longest_matches_are_those_of_the_definition(names, ids, ends):
    terms = {name: number for number, name in enumerate(names)}
    tree = NameTree(terms, FIRST_WORD + N_WORDS)
    assert tree.longest(ids, {}, ends) == longest_slowly(terms, ids, ends)


def test_memory_of_tokens_is_bounded(monkeypatch):
    monkeypatch.setattr(matching, "REMEMBERED_TOKENS", 10)
    ids = TokenIds(["amygdala"])
    tokens = [f"word{i}" for i in range(100)] + ["amygdalae"]
    assert ids.of(tokens) == [UNKNOWN] * 100 + [FIRST_WORD]
    assert len(ids) == 10
