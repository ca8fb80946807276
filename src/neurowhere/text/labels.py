"""Labels of atlases in words: "Frontal_Sup_2_L" is the left superior frontal gyrus.

The side is taken off a label and the rest is cut to a core of lower-case words without indices,
which is then looked up in the table ``labels.csv`` beside this module, or put in the order of
English. The table has one row per entry, of these kinds:

- word: an abbreviation or a slip of the pen in a label, and what it stands for;
- label: a whole core, and its name (none for "unknown" and its like);
- part: words that name an area of the HCP parcellation wherever they stand in its core;
- code: how the codes of cortical areas begin ("PFm", "TE1"), and the gyrus that they lie in;
- network, nucleus: the codes of Schaefer's networks and of Tian's subcortical nuclei;
- shown: a label without its side, and its name where it is shown to a person;
- proper: a word that is a name, and how it is written where it is shown.

Several regions may share a name, as the pieces of one gyrus do. Where names are shown
(`region_names`), they are told apart.
"""

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache

from neurowhere._tools.files import shipped_table
from neurowhere.text.places import SIDE_WORDS, Side
from neurowhere.text.words import word_set

_SIDES: list[tuple[re.Pattern[str], Side]] = [
    (re.compile(r"(?i)^(?:ctx[-_.])?(?:left|lh|l)[-_. ]|[-_ ](?:lh|l)$"), "left"),
    (re.compile(r"(?i)^(?:ctx[-_.])?(?:right|rh|r)[-_. ]|[-_ ](?:rh|r)$"), "right"),
]
_SCHAEFER = re.compile(r"\d+networks_([LR])H_([a-z]+)(.*)", re.IGNORECASE)
_TIAN = re.compile(r"([almp]?)(amy|cau|gp|hip|nac|put|tha)(-.*)?", re.IGNORECASE)
_BRAINNETOME = re.compile(r"(?P<gyrus>[\w ]+) - [^,]*(?:, ?(?P<detail>.*))?")
_AICHA_PIECE = re.compile(r"-\d+$")
_YEO = re.compile(r"^\d+_(.*?)(?:_[A-C])?$")
_NEUROMORPHOMETRICS = re.compile(
    r"^(?:[A-Z][A-Za-z]*[A-Z]|Cun|Calc|Ent|PCu|[AP]Ins|GRe)_(?=[a-z]{4})"
)
_PARENTHESES = re.compile(r"\([^)]*\)?")
# Codes of the pieces of a region in the Jülich atlas.
_PIECE = re.compile(r"ba\d+\w*|hip\d|te\d|p[fg]\w{0,3}|op\d|\d+\w{0,2}")
_DETAIL_DIRECTIONS = re.compile(
    r"^(?:(?:(?:antero|postero|caudo|rostro|dorso|ventro|medio|latero)?"
    r"(?:anterior|posterior|caudal|rostral|dorsal|ventral|medial|lateral)|\w*granular|and)"
    r" +(?=\w+ |insula|caudate|putamen|amygdala|hippocampus))*"
)
_DIVISION = re.compile(r"(.*) (anterior|posterior|superior|inferior|lateral|medial) \w*")
_DIVISIONS = ("division", "part", "segment")
_NUMERAL = re.compile(  # of lobules and visual areas
    r"(?<=lobule )[ivx]+|(?<=lobules )[ivx]+ [ivx]+|(?<=crus )i+|\bv\d\b"
)
_PART_OF = re.compile(r"\b(genu|limb|splenium|sulcus) (?=corpus callosum|insula|internal capsule)")
_INDEX = re.compile(r" \d+$")
_YEO_NUMBER = re.compile(r"^\d+_(?=[A-Z])")
_SEPARATORS = re.compile(r"[\s_/(),.:+-]+")
_PLACES_IN_NUCLEI = {"a": "anterior", "l": "lateral", "m": "medial", "p": "posterior"}
LONG = 4  # letters of a word that is looked for within others
_ROMAN = re.compile(r"(?:[ivx]+[ab]?)(?: [ivx]+[ab]?)*")
_BRODMANN = re.compile(r"\b[a-z]?(\d{1,2})(?!\d)")
LARGEST_BRODMANN_AREA = 52

# Words whose numbers are no indices: "Brodmann area 4", "Cerebellum 6".
_NUMBERED = frozenset(["area", "brodmann", "cerebellum"])
_KINDS = frozenset(["g", "n", "s", "and"])  # gyrus, nucleus, sulcus
_DIRECTIONS = word_set("anterior inferior lateral medial middle posterior superior")
_NOUNS = {
    "cingulate": "cortex",
    "frontal": "gyrus",
    "occipital": "gyrus",
    "orbital": "gyrus",
    "parietal": "lobule",
    "temporal": "gyrus",
}


def words_of_label(label: str) -> tuple[str, Side | None]:
    """Return the name and the side that the label of an atlas stands for.

    The name is "" where the label names nothing.

    >>> words_of_label("Frontal_Sup_2_L"), words_of_label("lh.G_front_inf-Triangul")
    (('superior frontal gyrus', 'left'), ('pars triangularis', 'left'))
    >>> words_of_label("Cingulate_Gyrus_anterior_division"), words_of_label("HIP-head-m1-rh")
    (('anterior cingulate gyrus', None), ('hippocampus', 'right'))
    """
    if found := _SCHAEFER.fullmatch(label):
        return _table("network").get(found[2].lower(), ""), SIDE_WORDS[found[1].lower()]
    rest, side = _without_side(label.strip())
    if found := _TIAN.fullmatch(rest):
        return _table("nucleus")[found[2].lower()], side
    if found := _BRAINNETOME.fullmatch(rest):
        rest = _named_piece(found["gyrus"], found["detail"] or "")
    return _name(_core(rest)), side


def known_names() -> list[str]:
    """Names of parts of the brain in the table, those of networks left out."""
    kinds = ("label", "part", "code", "nucleus")
    names = (name for kind in kinds for name in _table(kind).values())
    return sorted({name for name in names if name and not name.endswith("network")})


@cache
def _table(kind: str) -> dict[str, str]:
    rows = shipped_table(__package__, "labels.csv")
    return {row["label"]: row["name"] for row in rows if row["kind"] == kind}


def _without_side(label: str) -> tuple[str, Side | None]:
    for pattern, side in _SIDES:
        rest, found = pattern.subn("", label, count=1)
        if found:
            return rest, side
    return label, None


def _named_piece(gyrus: str, detail: str) -> str:
    """Name of a piece of a gyrus where it has one: not "lateral area 9"."""
    detail = _PARENTHESES.sub("", detail).strip()
    if not detail or "area" in detail:
        return gyrus
    if detail.endswith("thalamus"):
        return "thalamus"
    return _DETAIL_DIRECTIONS.sub("", detail)


def _core(label: str) -> str:
    """Lower-case words of a label without its indices, abbreviations spelt out."""
    label = _NEUROMORPHOMETRICS.sub("", _PARENTHESES.sub(" ", label))
    label = _YEO.sub(r"\1", _AICHA_PIECE.sub("", label)).replace("OFC", "OFC_")
    tokens = re.findall(r"[a-z0-9]+", label.lower().replace("'s", ""))
    if tokens[:1] == ["gm"]:
        tokens = [token for token in tokens if not _PIECE.fullmatch(token)]
    words = [_table("word").get(token, token) for token in tokens]
    if not _NUMBERED & set(words):
        words = [word for word in words if not word.isdigit()]
    return " ".join(filter(None, words))


def _name(core: str) -> str:
    names = _table("label")
    if core in names:
        return names[core]
    if core.startswith("vermis"):
        return "vermis"
    if _ROMAN.fullmatch(core):
        return f"{'lobules' if ' ' in core else 'lobule'} {core}"
    if found := re.fullmatch(r"visual cortex (v\d)\w?", core):
        return found[1]
    return _area_name(core) or _ordered(core)


def _area_name(core: str) -> str:
    """Name of a cortical area known by words, by a code or by its number."""
    if core.startswith("brodmann"):
        return " ".join(core.split()[:3])
    for words, name in _table("part").items():
        if f" {words} " in f" {core} ":
            return name
    if not re.search(r"\b(area|prime|transitional|polar)\b", core):
        return ""
    code = core.removeprefix("area ")
    for start, name in _table("code").items():
        if code.startswith(start):
            return name
    found = _BRODMANN.search(code)
    if found and 1 <= int(found[1]) <= LARGEST_BRODMANN_AREA:
        return f"brodmann area {found[1]}"
    return ""


def _ordered(core: str) -> str:
    """Put "g frontal superior" and "gyrus anterior division" in the order of English."""
    if core.endswith(_DIVISIONS):
        core = _DIVISION.sub(r"\2 \1", core)
        core = core.removesuffix(" temporooccipital part")
    words = core.split()
    is_sulcus = core.startswith("s ")
    while len(words) > 1 and words[0] in _KINDS:
        words = words[1:]
    others = [word for word in words if word not in _DIRECTIONS]
    directed = sorted(words, key=lambda word: word in others)
    if is_sulcus:
        return " ".join([*directed, "sulcus"])
    name = " ".join(words)
    if name in _table("label") or len(others) != 1:
        return _table("label").get(name, name)
    return " ".join([*directed, *_NOUNS.get(others[0], "").split()])


# ---- names as a person reads them


def region_names(labels: Iterable[str]) -> dict[str, str]:
    """Return the name of each region in words, its side first.

    Where two names would be alike, what else the labels say follows. A label whose words are
    unknown is shown as it is, but for its separators.

    >>> region_names(["Heschl_L", "Cerebellum_4_5_R", "Thal_PuM_L", "Frontal_Sup-1-R", "7"])
    {'Heschl_L': "left Heschl's gyrus",
     'Cerebellum_4_5_R': 'right cerebellar lobules IV-V',
     'Thal_PuM_L': 'left medial pulvinar',
     'Frontal_Sup-1-R': 'right superior frontal gyrus',
     '7': '7'}
    >>> list(region_names(["G_Frontal_Sup-1-L", "G_Frontal_Sup-2-L"]).values())
    ['left superior frontal gyrus (1)', 'left superior frontal gyrus (2)']
    """
    names = {label: _in_words(label) for label in labels}
    names |= {label: _with_detail(label, names[label]) for label in _alike(names)}
    return names | {label: f"{names[label]} ({label})" for label in _alike(names)}


def _alike(names: dict[str, str]) -> list[str]:
    """Labels whose names are those of others too."""
    n_labels = Counter(names.values())
    return [label for label, name in names.items() if n_labels[name] > 1]


def _in_words(label: str) -> str:
    words, side = words_of_label(label)
    rest, _ = _without_side(label.strip())
    name = _table("shown").get(_INDEX.sub("", rest)) or _capitals(words)
    return " ".join(filter(None, [side, name or " ".join(_tokens(rest))])) or label


def _capitals(name: str) -> str:
    """Write a name as English does: "Heschl's gyrus", "V1", "genu of the corpus callosum"."""
    name = " ".join(_table("proper").get(word, word) for word in name.split())
    name = _PART_OF.sub(r"\1 of the ", name)
    name = _NUMERAL.sub(lambda found: found[0].upper().replace(" ", "-"), name)
    return f"cerebellar {name}" if name.startswith("lobule") else name


def _detail(label: str) -> str:
    """Return what a label says beyond the codes of its atlas."""
    rest, _ = _without_side(label.strip())
    if found := _SCHAEFER.fullmatch(label) or _TIAN.fullmatch(rest):
        rest = " ".join(filter(None, [_PLACES_IN_NUCLEI.get(found[1]), found[3]]))
    found = _BRAINNETOME.fullmatch(rest)
    return found["detail"] or rest if found else rest


def _with_detail(label: str, name: str) -> str:
    """Add what a label says beyond its name: "left superior frontal gyrus (medial area 8)"."""
    initials = "".join(word[0] for word in words_of_label(label)[0].split())
    known, joined = {"", initials, *_KINDS, *name.lower().split()}, re.sub(r"\W", "", name.lower())
    tokens = _tokens(_YEO_NUMBER.sub("", _detail(label)))
    words = [_table("word").get(token.lower(), token) for token in tokens]
    new = [word for word in words if word.lower() not in known]
    detail = [word for word in new if len(word) < LONG or word.lower() not in joined]
    return f"{name} ({' '.join(detail)})" if detail else name


def _tokens(label: str) -> list[str]:
    """Words of a label, small but for codes: "Area", "PFm"."""
    tokens = filter(None, _SEPARATORS.split(label))
    return [token.lower() if token.istitle() and len(token) >= LONG else token for token in tokens]
