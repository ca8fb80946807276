"""Build vocabularies from public lists: names of the brain's parts, and NeuroQuery's terms.

The anatomical vocabulary gathers the labels of atlases, Wikipedia's list of brain regions, NIF's
gross anatomy and the anatomical terms of NeuroQuery's categories. A name enters it when an atlas,
Wikipedia or the categories have it and it says where in the brain: names made of generic words
only ("brain", "group", "anterior part"), of parts outside the brain or below the scale of a map
("spinal cord", "layer V") stay out, and so do bare abbreviations. Names with the same words in
another order, number or spelling are one; NIF's synonyms join the names that they belong to.
"""

import csv
import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from neurowhere.exceptions import CorpusError, VocabularyError
from neurowhere.files import open_text
from neurowhere.text.labels import words_of_label
from neurowhere.text.laterality import ADJECTIVE, SIDES
from neurowhere.text.vocabulary import Vocabulary
from neurowhere.text.words import PREFIXES, fold, word_set, words_of

ATLAS_LABELS = "all_atlas_labels.csv"
WIKIPEDIA = "wikipedia_human_brain_tree_2023-05-19.json"
NIF = "nif_gross_anatomy_labels_synonyms.csv"
TERM_CATEGORIES = "data-neuroquery_version-1_termcategories.csv"
TERMS = "data-neuroquery_version-1_vocab-neuroquery7547_vocabulary.txt"
TERM_SYNONYMS = "neuroquery_voc_mapping_identity.json"
SOURCES = (ATLAS_LABELS, WIKIPEDIA, NIF, TERM_CATEGORIES, TERMS, TERM_SYNONYMS)

# Atlases of networks: their labels name no part of the brain.
NETWORK_ATLASES = ("gordon", "schaefer", "yeo")

# A name made only of these, of directions and of numbers says nothing of where it is.
GENERIC_WORDS = word_set(
    """
    angle area ascending association axis body boundary brain brodmann bundle center central
    cerebral cerebrum circuit cluster column commissure complex component connection connectivity
    cortex cortical cranial deep descending division domain external face fascicle fasciculus fiber
    field fissure floor formation fossa ganglion gland gray group gyrus head hemisphere hemispheric
    horn human intermediate internal isthmus junction lamina limb line lobe long longitudinal loop
    map matter median mid middle name network neural neuronal neuropil nuclear nucleus organ part
    pathway peduncle plate pole primary process radiation recess region role root secondary segment
    simple standard stem stratum structure subcortical subdivision substance substructure sulcus
    superficial surface system tail tertiary tract transverse triangle tube white whole zone
    """
)
DIRECTION = re.compile(
    r"(?:antero|postero|supero|infero|dorso|ventro|rostro|caudo|medio|latero|mid)*"
    r"(?:anterior|posterior|superior|inferior|lateral|medial|dorsal|ventral|rostral|caudal)"
)
SIDE = re.compile(rf"(?:{'|'.join(SIDES)}) ")
NUMBER = re.compile(r"\d+|[ivx]+")

# A name with one of these is no place in the brain, or one too small for a map.
FOREIGN_WORDS = word_set(
    """
    alpha also arachnoid autonomic axonal barrier cauda cavity cell cervical chief cholinergic
    cistern cochlea cochlear cord covering crest dopamine dopaminergic dynorphin embolus endorphin
    enkephalin epithelium form gaba gamma ghrh glutamate glymphatic hormone hpa hpg hpt inah layer
    lumbar mainly mater meningeal micturition muscle nerve nervous neuron neuropeptide
    neurotransmitter nidopallium noradrenaline norepinephrine opioid other oxytocin peptide
    peripheral phrenic plane plexus purkinje radial respiratory retina sacral scn section seahorse
    serotonergic serotonin skull space spinal spiral sural sympathetic trigger ulnar vagus venous
    vertebra vertebrate vomeronasal
    """
)
LONGEST_NAME = 6  # words
SHORTEST_WORD = 4  # letters of a word that tells something, in a name of several words
SHORTEST_SINGLE_WORD = 5  # the same for a name of one word
SHORT_NAMES = frozenset(map(fold, word_set("ca1 ca2 ca3 ca4 pons v1 v2 v3 v4 v5 v6")))

# Names of one structure that share no word, or that a text gives as an adjective.
SAME = {
    "brain stem": "brainstem",
    "amygdaloid complex": "amygdala",
    "calcarine fissure": "calcarine sulcus",
    "cerebellar vermis": "vermis",
    "corpus striatum": "striatum",
    "cortex insula": "insula",
    "globus pallidus externus": "external globus pallidus",
    "globus pallidus internus": "internal globus pallidus",
    "hemisphere": "cerebral hemisphere",
    "inferior olivary nucleus": "inferior olive",
    "insular cortex": "insula",
    "insular lobe": "insula",
    "lateral globus pallidus": "external globus pallidus",
    "lenticular nucleus": "lentiform nucleus",
    "medial globus pallidus": "internal globus pallidus",
    "mediodorsal nucleus thalamus": "mediodorsal thalamic nucleus",
    "medulla": "medulla oblongata",
    "middle cingulate cortex": "midcingulate cortex",
    "nucleus caudatus": "caudate nucleus",
    "nucleus tractus solitarius": "nucleus of the solitary tract",
    "opercular part of inferior frontal gyrus": "pars opercularis",
    "orbital medial prefrontal cortex": "medial orbitofrontal cortex",
    "orbital part of inferior frontal gyrus": "pars orbitalis",
    "orbital prefrontal cortex": "orbitofrontal cortex",
    "pallidum": "globus pallidus",
    "periaqueductal gray matter": "periaqueductal gray",
    "pineal body": "pineal gland",
    "precuneus cortex": "precuneus",
    "pulvinar nucleus": "pulvinar",
    "putamen nucleus": "putamen",
    "rectal gyrus": "gyrus rectus",
    "straight gyrus": "gyrus rectus",
    "thalamus pulvinar": "pulvinar",
    "transverse temporal gyrus": "heschl gyrus",
    "triangular part of inferior frontal gyrus": "pars triangularis",
    "ventral medial prefrontal cortex": "ventromedial prefrontal cortex",
}
ADJECTIVES = {
    "amygdalar": "amygdala",
    "caudate": "caudate nucleus",
    "cerebellar": "cerebellum",
    "callosal": "corpus callosum",
    "fusiform": "fusiform gyrus",
    "hippocampal": "hippocampus",
    "hypothalamic": "hypothalamus",
    "insular": "insula",
    "pallidal": "globus pallidus",
    "parahippocampal": "parahippocampal gyrus",
    "parahippocampus": "parahippocampal gyrus",
    "pontine": "pons",
    "precentral": "precentral gyrus",
    "postcentral": "postcentral gyrus",
    "striatal": "striatum",
    "thalamic": "thalamus",
}
# Adjectives that name a part of the brain of their own.
LOBES = word_set(
    """
    cingulate extrastriate frontal fronto-parietal frontopolar limbic occipital occipito-parietal
    occipito-temporal orbitofrontal parietal perisylvian prefrontal premotor retrosplenial
    subgenual temporal temporo-parietal
    """
)
ABBREVIATIONS = {
    "acc": "anterior cingulate cortex",
    "atl": "anterior temporal lobe",
    "dlpfc": "dorsolateral prefrontal cortex",
    "dmpfc": "dorsomedial prefrontal cortex",
    "eba": "extrastriate body area",
    "ffa": "fusiform face area",
    "ifg": "inferior frontal gyrus",
    "ipl": "inferior parietal lobule",
    "ips": "intraparietal sulcus",
    "itg": "inferior temporal gyrus",
    "lgn": "lateral geniculate nucleus",
    "loc": "lateral occipital cortex",
    "mca": "middle cerebral artery",
    "mcc": "midcingulate cortex",
    "mfg": "middle frontal gyrus",
    "mpfc": "medial prefrontal cortex",
    "mtg": "middle temporal gyrus",
    "mtl": "medial temporal lobe",
    "nacc": "nucleus accumbens",
    "ofc": "orbitofrontal cortex",
    "pag": "periaqueductal gray",
    "pcc": "posterior cingulate cortex",
    "pfc": "prefrontal cortex",
    "ppa": "parahippocampal place area",
    "ppc": "posterior parietal cortex",
    "sfg": "superior frontal gyrus",
    "sma": "supplementary motor area",
    "spl": "superior parietal lobule",
    "stg": "superior temporal gyrus",
    "sts": "superior temporal sulcus",
    "tpj": "temporoparietal junction",
    "vlpfc": "ventrolateral prefrontal cortex",
    "vmpfc": "ventromedial prefrontal cortex",
    "vta": "ventral tegmental area",
}
# Names that texts use and no list has, or only lists of generic ones.
MORE_NAMES = (
    "anterior temporal lobe",
    "cerebral hemisphere",
    "extrastriate body area",
    "parahippocampal place area",
)
BRODMANN_AREAS = [*range(1, 14), *range(16, 48), 52]  # those that atlases of humans show

Key = tuple[str, ...]  # folded words of a name in alphabetical order


def build_anatomy(folder: str | os.PathLike[str]) -> Vocabulary:
    """Build the vocabulary of the brain's parts from a folder of lists (see the module)."""
    folder = _checked(folder)
    nif = _nif_rows(folder / NIF)
    sources = {
        "atlas": _atlas_names(folder / ATLAS_LABELS),
        "wikipedia": _wikipedia_names(folder / WIKIPEDIA),
        "nif": [label for label, *_ in nif],
        "categories": _category_names(folder, "anatomy"),
    }
    candidates: dict[Key, _Name] = {}
    for source, forms in sources.items():
        for form in forms:
            candidates.setdefault(_key(form), _Name()).add(source, form)
    chosen = {key: name.best for key, name in candidates.items() if name.is_place}
    brodmann = [f"brodmann area {number}" for number in BRODMANN_AREAS]
    chosen |= {_key(name): name for name in (*LOBES, *MORE_NAMES, *brodmann)}
    chosen = {key: name for key, name in chosen.items() if key not in map(_key, SAME)}
    synonyms = _Synonyms(chosen)
    for key, name in candidates.items():
        if key in chosen:
            synonyms.add([chosen[key], *name.forms])
    for term, number in zip(brodmann, BRODMANN_AREAS, strict=True):
        synonyms.add([term, f"ba {number}", f"ba{number}", f"area {number}"])
    for other, term in (SAME | ADJECTIVES | ABBREVIATIONS).items():
        synonyms.add([term, other])
    for row in nif:
        synonyms.add([row[0], *filter(_is_telling, row[1:])])
    terms = sorted(chosen.values())
    return Vocabulary(terms, dict(sorted(synonyms.items())), dict.fromkeys(terms, "anatomy"))


def build_full(folder: str | os.PathLike[str]) -> Vocabulary:
    """Build NeuroQuery's vocabulary with its synonyms, each term with its category."""
    folder = _checked(folder)
    vocabulary = Vocabulary.load(folder / TERMS, folder / TERM_SYNONYMS)
    categories: dict[str, str] = {}
    for category in ("psychology", "disease"):
        keys = {_key(name) for name in _category_names(folder, category)}
        categories |= {term: category for term in vocabulary if _key(term) in keys}
    anatomy = build_anatomy(folder)
    categories |= {term: "anatomy" for term in vocabulary if term in anatomy}
    return Vocabulary(vocabulary.terms, vocabulary.synonyms, categories)


class _Name:
    """The forms in which the lists give one name, the best list first."""

    def __init__(self) -> None:
        self.sources: set[str] = set()
        self.forms: list[str] = []

    def add(self, source: str, form: str) -> None:
        self.sources.add(source)
        self.forms.append(form)

    @property
    def best(self) -> str:
        """First form that ends in a noun such as "gyrus"; "cortex auditory" does not."""
        return next((form for form in self.forms if _ends_in_noun(form)), self.forms[0])

    @property
    def is_place(self) -> bool:
        """Whether the name says where in the brain, and more than NIF alone vouches for it."""
        if self.sources == {"nif"} or not _is_telling(self.forms[0]):
            return False
        return len(_key(self.forms[0])) > 1 or self.sources != {"categories"}


class _Synonyms(dict[str, str]):
    """Synonyms of chosen names; what is a name itself never becomes a synonym."""

    def __init__(self, chosen: dict[Key, str]) -> None:
        super().__init__()
        self._chosen = chosen
        self._known = {_form(name) for name in chosen.values()}

    def add(self, forms: list[str]) -> None:
        """Make the forms synonyms of the first of them that is a chosen name."""
        keys = map(_key, forms)
        name = next((self._chosen[key] for key in keys if key in self._chosen), None)
        for form in forms:
            is_other = self._chosen.get(_key(form), name) != name
            if name is not None and not is_other and _form(form) not in self._known:
                self._known.add(_form(form))
                self[form] = name


def _words(name: str) -> tuple[str, ...]:
    """Words of a name without its side, prefixes joined: "fronto parietal" is "frontoparietal"."""
    words: list[str] = []
    for word in words_of(name):
        if word in SIDES:
            continue
        if words and words[-1] in PREFIXES:
            words[-1] += word
        else:
            words.append(word)
    return tuple(words)


def _form(name: str) -> tuple[str, ...]:
    return tuple(map(fold, _words(name)))


def _key(name: str) -> Key:
    return tuple(sorted(_form(name)))


def _is_generic(word: str) -> bool:
    return bool(word in GENERIC_WORDS or DIRECTION.fullmatch(word) or NUMBER.fullmatch(word))


def _is_telling(name: str) -> bool:
    """Whether a name is made of more than generic words and short codes."""
    words = _form(name)
    telling = [word for word in words if not _is_generic(word)]
    if not telling or len(words) > LONGEST_NAME or not FOREIGN_WORDS.isdisjoint(words):
        return False
    shortest = SHORTEST_SINGLE_WORD if len(words) == 1 else SHORTEST_WORD
    if len(words) == 1 and ADJECTIVE.fullmatch(words[0]):
        return False
    return any(len(word) >= shortest or word in SHORT_NAMES for word in telling)


def _ends_in_noun(name: str) -> bool:
    return _form(name)[-1] in GENERIC_WORDS


def _checked(folder: str | os.PathLike[str]) -> Path:
    folder = Path(folder)
    missing = [name for name in SOURCES if not (folder / name).is_file()]
    if missing:
        raise VocabularyError(f"{folder} lacks {', '.join(missing)}; give the folder that has them")
    return folder


def _atlas_names(path: Path) -> list[str]:
    """Names of the regions of atlases, from a table of atlas, index and label."""
    labels = [
        row["label"]
        for row in _read_table(path, ("atlas", "label"))
        if not row["atlas"].startswith(NETWORK_ATLASES)
    ]
    return _unique(words_of_label(label)[0] for label in labels)


def _wikipedia_names(path: Path) -> list[str]:
    """Names in a nested list of regions; what is in parentheses explains, and is left out."""
    tree = _read_json(path)
    names = (re.sub(r"\([^)]*\)", "", name) for name in _leaves(tree))
    parts = (part for name in names for part in re.split(r" or | / ", name))
    return _unique(" ".join(part.lower().split()) for part in parts)


def _leaves(tree: Any) -> Iterator[str]:
    if isinstance(tree, dict):
        yield from (key for key in tree if "_" not in key)  # those with one are the file's own
        tree = list(tree.values())
    if isinstance(tree, list):
        for branch in tree:
            yield from _leaves(branch)
    else:
        yield str(tree)


def _nif_rows(path: Path) -> list[list[str]]:
    """Label and synonyms of each of NIF's parts of the brain."""
    rows = _read_table(path, ("label", "synonyms"))
    names = ([row["label"], *row["synonyms"].split("|")] for row in rows)
    return [
        _unique(re.sub(r"\([^)]*\)", "", name).strip().lower() for name in row) for row in names
    ]


def _category_names(folder: Path, category: str) -> list[str]:
    """Terms of NeuroQuery's vocabulary that a list of this category has, word for word.

    The table also pairs terms that only resemble each other ("group" and "y-group"): these are
    left out.
    """
    terms = _read_lines(folder / TERMS)
    rows = _read_table(folder / TERM_CATEGORIES, ("term", "normalized_term", "category"))
    return _unique(
        row["normalized_term"]
        for row in rows
        if row["category"] == category
        and row["normalized_term"] in terms
        and _key(row["term"]) == _key(row["normalized_term"])
    )


def _unique(names: Iterable[str]) -> list[str]:
    """Names without a side that they begin with, each once."""
    return list(dict.fromkeys(SIDE.sub("", name) for name in names if _words(name)))


def _read_table(path: Path, columns: tuple[str, ...]) -> list[dict[str, str]]:
    try:
        with open_text(path) as stream:
            rows = list(csv.DictReader(stream))
    except (CorpusError, csv.Error) as error:
        raise VocabularyError(f"cannot read {path}: {error}") from error
    if not rows or not set(columns) <= set(rows[0]):
        raise VocabularyError(f"{path} should have the columns {', '.join(columns)}")
    return rows


def _read_lines(path: Path) -> set[str]:
    with open_text(path) as stream:
        return {line.strip() for line in stream}


def _read_json(path: Path) -> Any:
    try:
        with open_text(path) as stream:
            return json.load(stream)
    except (CorpusError, json.JSONDecodeError) as error:
        raise VocabularyError(f"cannot read {path}: {error}") from error
