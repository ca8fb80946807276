"""Find and count the terms of a vocabulary in texts."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain, islice, pairwise, product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere.text.abbreviations import Resolver, definitions, known_senses
from neurowhere.text.matching import BOTH, REMEMBERED_TOKENS, SIDED, NameTree, TokenIds
from neurowhere.text.places import (
    LESION,
    SIDE_WORDS,
    SIDES,
    Side,
    is_limb,
    is_place,
    side_of_name,
    single_words,
)
from neurowhere.text.reading.document import Document, Name, find_odd
from neurowhere.text.reading.lexicon import lexicon
from neurowhere.text.reading.sides import read_sides
from neurowhere.text.reading.tags import signs_of
from neurowhere.text.words import (
    END,
    cased_words_of,
    fold,
    other_splits,
    plain,
    plain_with_origin,
    token_spans,
    words_of,
)

if TYPE_CHECKING:
    from neurowhere.text.vocabulary import Vocabulary

BATCH = 256  # texts whose counts are one matrix
REMEMBERED_NAMES = 1 << 12  # of structures that rules and halves of names ask for, again and again
LONG_NAME = 7  # letters of a name that is told from others in spite of a slip
LONGEST_NOTE = 10_000  # characters: in an article, "+" is mostly part of a formula
# Categories of which no name is a place, whatever words it is made of.
PLACELESS = frozenset(["anatomy", "function", "task", "drug"])


LETTERED, BI = 512, 1024  # signs of tokens: "rIFG", and "bithalamic" or "bi"
Form = tuple[str, ...]
CLASSES, ID = 12, 28  # bits before the number of the classes, and before the id, of a token
N_SIGNS, N_CLASSES = 1 << CLASSES, 1 << ID - CLASSES


class Match(NamedTuple):
    """One mention of a term, ``text[start:end]``, and where the text gives it a side."""

    term: str  # name in the vocabulary, whatever synonym or spelling the text has
    start: int
    end: int
    side: Side | None = None
    side_start: int | None = None  # None without a side, or if it is within the name
    side_end: int | None = None


class TermCounter:
    r"""Finds the longest terms of a vocabulary in texts.

    At each word the longest term that starts there is taken and its words are consumed, so
    "anterior cingulate cortex" is not also "cortex" (as in NeuroQuery's counts). A term is found
    whatever its case, accents, hyphens, line breaks, plurals and British or American spelling;
    articles and "of" within it do not matter. No term goes across the end of a sentence, nor,
    where its place is asked for, a comma: "thalamus, anterior putamen" is no "anterior thalamus".
    Counts are those of NeuroQuery, which know no comma. A form that is itself a term
    or a synonym counts as that one.

    Parameters
    ----------
    vocabulary : Vocabulary
        Terms, their synonyms and categories.

    Examples
    --------
    >>> from neurowhere.text import Vocabulary
    >>> counter = TermCounter(Vocabulary(["amygdala", "cortex", "visual cortex"]))
    >>> counter.count(["Visual cortices; amyg-\ndala, amygdalae", "nothing"]).toarray()
    array([[2, 0, 1],
           [0, 0, 0]], dtype=int32)
    >>> counter.find("the left amygdala")
    [Match(term='amygdala', start=9, end=17, side='left', side_start=4, side_end=8)]
    """

    def __init__(self, vocabulary: "Vocabulary") -> None:
        self.vocabulary = vocabulary
        spellings = _spellings(vocabulary)
        senses = known_senses(vocabulary)
        words = {word for words, _ in spellings for word in words}.union(senses)
        for sense in chain.from_iterable(senses.values()):
            words.update(sense.cues, sense.beside)
        self._ids = TokenIds(words, frozenset(filter(vocabulary.is_generic, vocabulary.terms)))
        self._words = Words(self._ids)
        self._names = NameTree(_forms(spellings, self._ids), self._ids.n_ids)
        self._resolver = Resolver(vocabulary, self._ids, self._names)
        self.sides = [side_of_name(term) for term in vocabulary.terms]
        self._structures = _structures(vocabulary)
        self._terms_of: dict[str, str | None] = {}

    def __repr__(self) -> str:
        return f"TermCounter({self.vocabulary!r})"

    @cached_property
    def about(self) -> tuple[list[str], list[Side | None], list[bool]]:
        """Names and sides of terms, and whether each is generic and names nothing that is wrong.

        The last of each list is about `NO_TERM`.
        """
        terms, is_generic = self.vocabulary.terms, self.vocabulary.is_generic
        is_noise = (is_generic(term) and fold(term) not in LESION for term in terms)
        return [*terms, ""], [*self.sides, None], [*is_noise, False]

    @cached_property
    def generic(self) -> frozenset[int]:
        """Indices of the terms that are generic and name nothing that is wrong."""
        return frozenset(i for i, is_noise in enumerate(self.about[2][:-1]) if is_noise)

    @cached_property
    def long_structures(self) -> dict[str, int]:
        """Index of the term of each structure whose name is one long word."""
        names = filter(_is_long_word, (*self.vocabulary, *self.vocabulary.synonyms))
        indices = ((name, self.vocabulary.index(name)) for name in names)
        return {name: i for name, i in indices if self._structures[i]}

    def knows(self, word: str) -> bool:
        """Return whether a word is a form of one that names of the vocabulary have.

        Parameters
        ----------
        word : str

        Returns
        -------
        bool
        """
        return self._ids.knows(word)

    def count(self, texts: Iterable[str]) -> sparse.csr_matrix:
        """Count the terms in each text.

        Parameters
        ----------
        texts : iterable of str

        Returns
        -------
        csr_matrix of int32, of shape (n_texts, n_terms)
        """
        nothing = np.empty(0, dtype=np.intp)
        no_rows = _count_matrix(nothing, nothing, (0, len(self.vocabulary)))
        return sparse.csr_matrix(sparse.vstack([no_rows, *self.iter_count(texts)], format="csr"))

    def iter_count(self, texts: Iterable[str]) -> Iterator[sparse.csr_matrix]:
        """Count as `count` does, a batch of texts at a time.

        Parameters
        ----------
        texts : iterable of str

        Yields
        ------
        csr_matrix of int32, of shape (n, n_terms)
            Rows of the n texts of a batch.
        """
        stream = iter(texts)
        while batch := list(islice(stream, BATCH)):
            pairs = [(row, term) for row, text in enumerate(batch) for term in self._terms_in(text)]
            rows, terms = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
            yield _count_matrix(rows, terms, (len(batch), len(self.vocabulary)))

    def _terms_in(self, text: str) -> list[int]:
        """Terms of a text, without their places."""
        marked = plain(text, self._ids.knows, keep_case=True, mark_ends=True).split()
        tokens = [token for token in marked if token != END]
        ends = (i for i, token in enumerate(marked) if token == END)
        stops = {i - n for n, i in enumerate(ends)}
        ids = self._ids.of(tokens)
        meant = self._resolver.resolve(text, tokens, ids)
        return [term for _, _, term in self._names.longest(ids, meant, stops)]

    def count_sides(self, texts: Iterable[str]) -> dict[Side, sparse.csr_matrix]:
        """Count the mentions on each side.

        Parameters
        ----------
        texts : iterable of str

        Returns
        -------
        dict of str to csr_matrix of shape (n_texts, n_terms)
            For "left", "right" and "bilateral". A mention without a side is in none of them.
        """
        places: dict[Side, list[tuple[int, int]]] = {side: [] for side in SIDES}
        row = -1
        for row, text in enumerate(texts):
            for match in self.find(text):
                if match.side:
                    places[match.side].append((row, self.vocabulary.index(match.term)))
        shape = (row + 1, len(self.vocabulary))
        counts = {}
        for side, pairs in places.items():
            rows, terms = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
            counts[side] = _count_matrix(rows, terms, shape)
        return counts

    def find(self, text: str) -> list[Match]:
        """Find every mention of a term, with its place and side.

        Parameters
        ----------
        text : str

        Returns
        -------
        list of Match
            In the order of the text.
        """
        document = self.read(text)
        tokens = [i for i, word in enumerate(document.words) if word in SIDE_WORDS]
        sides = read_sides(document, tokens)
        matches = []
        for number, (first, end, term, _) in enumerate(document.names):
            place = document.span(first, end)
            attached = sides.applied.get(number)
            if attached is None:
                matches.append(Match(self.vocabulary.terms[term], *place, self.sides[term]))
            else:
                words = document.span(attached.first, attached.end)
                matches.append(Match(self.vocabulary.terms[term], *place, attached.side, *words))
        return matches

    def term_of(self, name: str) -> str | None:
        """Return the term that a name is a form of.

        Parameters
        ----------
        name : str

        Returns
        -------
        str or None

        Examples
        --------
        >>> from neurowhere.text import Vocabulary
        >>> counter = TermCounter(Vocabulary(["lingual gyrus", "cortex"]))
        >>> counter.term_of("Lingual gyri"), counter.term_of("visual cortex")
        ('lingual gyrus', None)
        """
        if name in self._terms_of:
            return self._terms_of[name]
        document = self.read(name)
        names, n = document.names, len(document.words)
        is_whole = len(names) == 1 and names[0][:2] == (0, n)
        term = self.vocabulary.terms[names[0].term] if is_whole else None
        if len(self._terms_of) < REMEMBERED_NAMES:
            self._terms_of[name] = term
        return term

    def read(self, text: str) -> Document:
        """Find the terms of a text among its tokens, for those who read what is around them.

        Parameters
        ----------
        text : str

        Returns
        -------
        Document
        """
        normal, origin = plain_with_origin(text, self._ids.knows)
        tokens = normal.split()
        starts, ends = token_spans(normal)
        if origin is not None:
            starts, ends = origin[starts], origin[ends - 1] + 1
        words = normal.lower().split()
        known = np.array(list(map(self._words.__getitem__, tokens)), dtype=np.int64)
        ids: list[int] = (known >> ID).tolist()
        numbers = (known >> CLASSES & N_CLASSES - 1).tolist()
        kinds = list(map(lexicon().sets.__getitem__, numbers))
        marks = known & N_SIGNS - 1
        sided = self._sided(text, tokens, marks)
        spans = starts.tolist(), ends.tolist()
        document = Document(text, words, *spans, [], sided, self.generic, marks=marks)
        document.__dict__.update(kinds=kinds, odd=find_odd(text, starts, ends))
        meant = self._resolver.resolve(text, tokens, ids)
        gaps = document.gaps
        commas = [i for i in document.odd if gaps[i].startswith(", ")]
        found = self._names.longest(ids, meant, document.starts_of_sentences.union(commas))
        is_structure, new = self._structures, tuple.__new__  # the fast way to thousands of names
        names = [new(Name, (first, end, term, is_structure[term])) for first, end, term in found]
        document = document.renamed(names)
        document = document.with_led_sides() if ") " in text else document
        is_joined = "&" in text or (len(text) < LONGEST_NOTE and " + " in text)
        return document.with_ampersands(self._words["and"] & N_SIGNS - 1) if is_joined else document

    def _sided(self, text: str, tokens: list[str], signs: NDArray[np.intp]) -> dict[int, Side]:
        """Sides that are part of abbreviations, by token: "rIFG", unless the text defines it so."""
        every = int(np.bitwise_or.reduce(signs))
        sided = dict.fromkeys(_both(tokens), SIDE_WORDS["both"]) if every & BI else {}
        if not every & LETTERED:
            return sided
        letters = {tokens[i] for i in np.flatnonzero(signs & LETTERED).tolist()}
        defined, given = dict(definitions(text)), {}
        for token in letters:
            side = SIDE_WORDS.get(self._ids.side_of(token))
            if side and side_of_name(defined.get(token, side)) == side:
                given[token] = side
        return sided | {i: given[token] for i, token in enumerate(tokens) if token in given}


class Words(dict[str, int]):
    """Signs, number of the classes, and id of each token, as the bits of one number.

    A token is looked up once: cold memory takes longer than what is done with it. Collections of
    garbage skip a dictionary of numbers.
    """

    def __init__(self, ids: TokenIds) -> None:
        self._ids = ids
        super().__init__()

    def __reduce__(self) -> tuple[type["Words"], tuple[TokenIds]]:
        return Words, (self._ids,)  # each process numbers the classes in its own order

    def __missing__(self, token: str) -> int:
        word = token.lower()
        classes = lexicon().number_of(lexicon()[word])
        is_both = word.startswith("bi") and (word == "bi" or BOTH.fullmatch(word) is not None)
        is_sided = token[0] in "lr" and token != word and SIDED.fullmatch(token) is not None
        signs = signs_of(word) | LETTERED * is_sided | BI * is_both
        known = self._ids[token] << ID | classes << CLASSES | signs
        if len(self) < REMEMBERED_TOKENS:
            self[token] = known
        return known


def _is_long_word(name: str) -> bool:
    return len(name) >= LONG_NAME and name.isalpha() and name.islower()


def _both(tokens: list[str]) -> Iterator[int]:
    """Yield the tokens that are on both sides by their names: "bithalamic", "bi-frontal"."""
    words = ["", *map(str.lower, tokens)]
    for i, (before, word) in enumerate(pairwise(words)):
        if BOTH.fullmatch(f"bi{word}" if before == "bi" else word):
            yield i


def _spellings(vocabulary: "Vocabulary") -> list[tuple[tuple[str, ...], int]]:
    """Words of every name and the index of its term; what is spelt out comes before variants.

    A synonym that is a form of another term counts as that one: "thalami" is the thalamus, also
    where a vocabulary has it as a synonym of "thalamo".
    """
    indices = {term: i for i, term in enumerate(vocabulary.terms)}
    names = list(zip(map(cased_words_of, indices), indices.values(), strict=True))
    forms = {_form(words): i for words, i in names}
    for name, term in vocabulary.synonyms.items():
        words, own = cased_words_of(name), _form(cased_words_of(term))
        is_bare = words != (name.lower(),) and vocabulary.is_generic(" ".join(words))
        form = _form(words)
        # Not "n back" without its letter, nor "n-back working memory".
        if not ((is_bare and len(words) == 1) or _is_two_names(form, own, vocabulary, forms)):
            names.append((words, {own: indices[term]}.get(form, forms.get(form, indices[term]))))
    return names + [(split, i) for words, i in names for split in other_splits(words)]


def _form(words: Form) -> Form:
    return tuple(map(fold, words))


def _is_two_names(
    form: Form, own: Form, vocabulary: "Vocabulary", terms: Mapping[Form, int]
) -> bool:
    """Whether a synonym is its term, and then the name of a function, of several words."""
    rest = form[len(own) :]
    if len(rest) < 2 or form[: len(own)] != own or rest not in terms:
        return False
    return vocabulary.category(vocabulary.terms[terms[rest]]) == "function"


def _forms(
    spellings: list[tuple[tuple[str, ...], int]], ids: TokenIds
) -> dict[tuple[int, ...], int]:
    """Sequences of ids that stand for each term: first as spelt, then in every other form."""
    names: dict[tuple[int, ...], int] = {}
    for words, term in spellings:
        names.setdefault(tuple(map(ids.__getitem__, words)), term)
    forms = {word: ids.forms(word) for words, _ in spellings for word in words}
    several = {word for word, some in forms.items() if len(some) > 1}  # few are
    for words, term in spellings:
        if not several.isdisjoint(words):
            for form in product(*map(forms.__getitem__, words)):
                names.setdefault(form, term)
    return names


def _structures(vocabulary: "Vocabulary") -> list[bool]:
    """Whether each term can have a side: anatomy, or anything where no category is known.

    Other names are anatomy where they are made of it: "frontal gyri", "left putamen", "temporal
    lobe epilepsy".
    """
    if not any(vocabulary.categories.values()):
        return [True] * len(vocabulary)
    names = [*zip(vocabulary, vocabulary, strict=True), *vocabulary.synonyms.items()]
    anatomy = {name for name, term in names if vocabulary.category(term) == "anatomy"}
    single = single_words(anatomy)
    for name, term in names:
        if vocabulary.category(term) not in PLACELESS and is_place(name, single):
            anatomy.add(term)
    return [term in anatomy and not is_limb(words_of(term)) for term in vocabulary]


def _count_matrix(
    rows: NDArray[np.intp], terms: NDArray[np.intp], shape: tuple[int, int]
) -> sparse.csr_matrix:
    ones = np.ones(len(rows), dtype=np.int32)
    return sparse.csr_matrix((ones, (rows, terms)), shape=shape, dtype=np.int32)
