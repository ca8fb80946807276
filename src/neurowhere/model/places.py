"""Places: the regions that the names of brain structures stand for, as densities.

The regions come from atlases by their labels, from a few more names for the same regions, from a
table of landmarks, and from what other names say about them: "posterior insula" is the posterior
half of the insula, and "fusiform cortex" is where the fusiform gyrus is. Both sides are taken
together.
"""

import re
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, map_coordinates

from neurowhere.model.landmarks import Region, landmarks
from neurowhere.space import Atlas, VoxelGrid
from neurowhere.text import Vocabulary
from neurowhere.text.labels import words_of_label

Mask = NDArray[np.bool_]

SIGMA_MM, TRUNCATE = 4.0, 4.0  # by which regions are smoothed; at how many of these it ends
LEAST_VOXELS = 4  # of a region that can be cut in two

# Terms, and the areas of Brodmann that they stand for.
AREAS: dict[str, tuple[int, ...]] = {
    "primary visual cortex": (17,),
    "striate cortex": (17,),
    "v2": (18,),
    "v3": (18, 19),
    "extrastriate cortex": (18, 19),
    "visual cortex": (17, 18, 19),
    "primary motor cortex": (4,),
    "motor cortex": (4,),
    "premotor cortex": (6,),
    "primary somatosensory cortex": (1, 2, 3),
    "somatosensory cortex": (1, 2, 3),
    "primary auditory cortex": (41,),
    "auditory cortex": (41, 42),
    "entorhinal cortex": (28, 34),
    "perirhinal cortex": (35, 36),
    "broca's area": (44, 45),
    "retrosplenial cortex": (29, 30),
    "frontopolar cortex": (10,),
    "dorsolateral prefrontal cortex": (9, 46),
    "subgenual cingulate cortex": (25,),
    "subgenual frontal cortex": (25,),
}
# Terms, and how the labels in AAL3 begin of the regions that they stand for.
GROUPS: dict[str, tuple[str, ...]] = {
    "thalamus": ("Thal",),
    "anterior cingulate cortex": ("ACC",),
    "cingulate cortex": ("ACC", "Cingulate_Mid", "Cingulate_Post"),
    "cerebellum": ("Cereb", "Vermis"),
    "vermis": ("Vermis",),
    "inferior frontal gyrus": ("Frontal_Inf",),
    "medial prefrontal cortex": ("Frontal_Sup_Medial", "Frontal_Med_Orb", "ACC_pre"),
    "occipital cortex": ("Occipital", "Calcarine", "Cuneus", "Lingual"),
    "inferior parietal cortex": ("Parietal_Inf", "Angular", "SupraMarginal"),
    "frontal lobe": ("Frontal", "Precentral", "Supp_Motor", "Rectus", "OFC"),
    "parietal lobe": ("Parietal", "Angular", "SupraMarginal", "Postcentral", "Precuneus"),
    "temporal lobe": ("Temporal", "Heschl", "Fusiform"),
    "medial temporal lobe": ("Hippocampus", "ParaHippocampal", "Amygdala"),
    "prefrontal cortex": ("Frontal", "OFC", "Rectus"),
    "lateral prefrontal cortex": ("Frontal_Mid", "Frontal_Inf"),
    "ventrolateral prefrontal cortex": ("Frontal_Inf",),
    "dorsomedial prefrontal cortex": ("Frontal_Sup_Medial",),
    "ventromedial prefrontal cortex": ("Frontal_Med_Orb", "Rectus", "OFCmed", "ACC_sub"),
    "subcallosal cortex": ("ACC_sub", "Olfactory"),
    "sensorimotor cortex": ("Precentral", "Postcentral"),
    "inferotemporal cortex": ("Temporal_Inf", "Fusiform"),
    "lateral occipital cortex": ("Occipital_Mid", "Occipital_Inf"),
    "v3a": ("Occipital_Sup",),
    "perisylvian cortex": ("Heschl", "Rolandic", "Temporal_Sup", "SupraMarginal"),
    "temporal pole": ("Temporal_Pole",),
    "lentiform nucleus": ("Putamen", "Pallidum"),
    "dorsal striatum": ("Caudate", "Putamen"),
    "ventral striatum": ("N_Acc",),
    "orbital gyrus": ("OFC",),
    "medial orbital gyrus": ("OFCmed",),
    "anterior orbital gyrus": ("OFCant",),
    "posterior orbital gyrus": ("OFCpost",),
    "lateral orbital gyrus": ("OFClat",),
    "orbital sulcus": ("OFC",),
    "pregenual cingulate": ("ACC_pre",),
    "isthmus cingulate": ("Cingulate_Post",),
    "medial parietal cortex": ("Precuneus",),
    "subcentral gyrus": ("Rolandic",),
    "intralaminar nuclei": ("Thal_IL",),
    "central lateral thalamic nucleus": ("Thal_IL",),
    "pulvinar": ("Thal_Pu",),
    "striatum": ("Caudate", "Putamen", "N_Acc"),
    "basal ganglia": ("Caudate", "Putamen", "Pallidum"),
    "substantia nigra": ("SN_",),
    "raphe nuclei": ("Raphe",),
    "crus i": ("Cerebellum_Crus1",),
    "crus ii": ("Cerebellum_Crus2",),
    "lobules i iv": ("Cerebellum_3", "Cerebellum_4_5"),
    "lobule v": ("Cerebellum_4_5",),
    "lobule vi": ("Cerebellum_6",),
    "lobule viib": ("Cerebellum_7b",),
    "lobule viiia": ("Cerebellum_8",),
    "lobule viiib": ("Cerebellum_8",),
    "lobule ix": ("Cerebellum_9",),
    "lobule x": ("Cerebellum_10",),
    "lingula": ("Vermis_1_2",),
    "culmen": ("Vermis_4_5", "Cerebellum_4_5"),
    "culmen of vermis": ("Vermis_4_5",),
    "declive": ("Vermis_6", "Cerebellum_6"),
    "declive of vermis": ("Vermis_6",),
    "tuber": ("Vermis_7",),
    "tuber of vermis": ("Vermis_7",),
    "pyramis": ("Vermis_8",),
    "pyramis of vermis": ("Vermis_8",),
    "uvula": ("Vermis_9",),
    "uvula of vermis": ("Vermis_9",),
    "nodule": ("Vermis_10",),
    "flocculus": ("Cerebellum_10",),
    "cerebellar tonsil": ("Cerebellum_9",),
    "inferior semi lunar lobule": ("Cerebellum_Crus2",),
}
# Words of a name, and the term whose region it lies in; the first that fits.
WITHIN: dict[str, str] = {
    "dentate gyrus": "hippocampus",
    "occipital pole": "brodmann area 17",
    "medial frontal": "medial superior frontal gyrus",
    "thalamic": "thalamus",
    "thalamus": "thalamus",
    "pallidus": "globus pallidus",
    "pallidum": "globus pallidus",
    "cerebellar": "cerebellum",
    "cerebellum": "cerebellum",
    "fusiform": "fusiform gyrus",
    "intracalcarine": "calcarine cortex",
    "pericalcarine": "calcarine cortex",
    "calcarine": "calcarine cortex",
    "supracalcarine": "cuneus",
    "insular": "insula",
    "insula": "insula",
    "hippocampal": "hippocampus",
    "hippocampus": "hippocampus",
    "subiculum": "hippocampus",
    "presubiculum": "hippocampus",
    "cornu": "hippocampus",
    "amygdalar": "amygdala",
    "amygdala": "amygdala",
    "caudate": "caudate nucleus",
    "putamen": "putamen",
    "striatum": "striatum",
    "accumbens": "nucleus accumbens",
    "precuneus": "precuneus",
    "cuneus": "cuneus",
    "lingual": "lingual gyrus",
    "angular": "angular gyrus",
    "supramarginal": "supramarginal gyrus",
    "parahippocampal": "parahippocampal gyrus",
    "operculum": "rolandic operculum",
    "orbitofrontal": "orbitofrontal cortex",
    "precentral": "precentral gyrus",
    "postcentral": "postcentral gyrus",
}
# Directions: the axis, and the sign of what lies that way; None for the middle third.
DIRECTIONS: dict[str, tuple[int, int] | None] = {
    "anterior": (1, 1),
    "posterior": (1, -1),
    "rostral": (1, 1),
    "caudal": (1, -1),
    "dorsal": (2, 1),
    "ventral": (2, -1),
    "superior": (2, 1),
    "inferior": (2, -1),
    "lateral": (0, 1),
    "medial": (0, -1),
    "dorsolateral": (2, 1),
    "ventrolateral": (2, -1),
    "dorsomedial": (2, 1),
    "ventromedial": (2, -1),
    "middle": None,
    "mid": None,
}
NOUNS = ("gyrus", "cortex", "lobule", "nucleus")  # that a name may leave out
# Names in which a direction says nothing of which half is meant.
UNDIVIDED = re.compile("nucleus|nuclei|fasciculus|tract|peduncle")


def place_densities(
    vocabulary: Vocabulary, grid: VoxelGrid, aal3: Atlas | None, brodmann: Atlas | None
) -> dict[str, NDArray[np.float32]]:
    """Return the density of the region of each term that names one.

    Parameters
    ----------
    vocabulary : Vocabulary
    grid : VoxelGrid
    aal3, brodmann : Atlas or None
        Left out where there is none.

    Returns
    -------
    dict of str to array of shape (n_regions,)
        Densities in multiples of the uniform one.
    """
    regions = {
        _term(vocabulary, name): region for name, region in landmarks(aal3) if name in vocabulary
    }
    regions |= named_regions(vocabulary, aal3, brodmann)
    regions |= dict(derived_regions(vocabulary, regions))
    return {
        term: density
        for term, region in regions.items()
        if (density := _density(region, grid)) is not None
    }


def named_regions(
    vocabulary: Vocabulary, aal3: Atlas | None, brodmann: Atlas | None
) -> dict[str, Region]:
    """Return the regions that labels of atlases, and a few other names, stand for."""
    found: dict[str, Region] = {}
    for atlas in (brodmann, aal3):
        if atlas is not None:
            found |= _by_label(vocabulary, atlas)
    if brodmann is not None:
        numbers = [_numbers(name) for name in brodmann.names]
        every = {number for some in numbers for number in some}
        areas = {f"brodmann area {number}": (number,) for number in every} | AREAS
        for name, wanted in areas.items():
            if name in vocabulary:
                rows = [row for row, some in enumerate(numbers) if some & set(wanted)]
                found.setdefault(_term(vocabulary, name), _region(brodmann, rows))
    if aal3 is not None:
        for name, beginnings in GROUPS.items():
            rows = [row for row, label in enumerate(aal3.names) if label.startswith(beginnings)]
            if name in vocabulary and rows:
                found[_term(vocabulary, name)] = _region(aal3, rows)
    return found


def derived_regions(
    vocabulary: Vocabulary, known: Mapping[str, Region]
) -> Iterator[tuple[str, Region]]:
    """Yield regions of names of structures that other names with a region are part of."""
    for term in vocabulary.terms:
        if vocabulary.category(term) != "anatomy" or term in known:
            continue
        whole, directions = _whole_of(term, vocabulary, known)
        if whole is None:
            continue
        mask, affine = known[whole]
        for direction in directions:
            if mask.sum() > LEAST_VOXELS:
                mask = cut(mask, affine, direction)
        yield term, Region(mask, affine)


def _whole_of(
    term: str, vocabulary: Vocabulary, known: Mapping[str, Region]
) -> tuple[str | None, list[str]]:
    """Find the term with a region that a name is part of, and the directions within it."""
    words = term.replace("-", " ").split()
    n_directions = 0
    while n_directions < len(words):
        rest = words[n_directions:]
        if (whole := _known_name(rest, vocabulary, known)) is not None:
            return whole, words[:n_directions]
        if rest[0] not in DIRECTIONS:
            break
        n_directions += 1
    for part, name in WITHIN.items():
        if part in words or (" " in part and part in term):
            if name not in vocabulary or (whole := _term(vocabulary, name)) not in known:
                break
            inside = [] if UNDIVIDED.search(term) else [w for w in words if w in DIRECTIONS]
            return whole, inside
    return None, []


def _known_name(
    words: list[str], vocabulary: Vocabulary, known: Mapping[str, Region]
) -> str | None:
    """Return the term with a region that words name, also with another noun at the end."""
    names = [" ".join(words), *(" ".join([*words[:-1], noun]) for noun in NOUNS)]
    for name in names:
        if name in vocabulary and (term := _term(vocabulary, name)) in known:
            return term
    return None


def cut(mask: Mask, affine: NDArray[np.float64], direction: str) -> Mask:
    """Return the half of a region that lies in a direction, on each side of the brain.

    Parameters
    ----------
    mask : array
    affine : array of shape (4, 4)
    direction : str
        One of `DIRECTIONS`; the middle is a third.

    Returns
    -------
    array
        Of the shape of the mask.
    """
    voxels = np.argwhere(mask)
    xyz_mm = voxels @ affine[:3, :3].T + affine[:3, 3]
    part = np.zeros_like(mask)
    for side in (xyz_mm[:, 0] < 0, xyz_mm[:, 0] >= 0):
        if side.any():
            kept = _kept(xyz_mm[side], direction)
            part[tuple(voxels[side][kept].T)] = True
    return part


def _kept(xyz_mm: NDArray[np.float64], direction: str) -> Mask:
    """Return which points of one side lie in a direction."""
    way = DIRECTIONS[direction]
    if way is None:
        first, second = np.quantile(xyz_mm[:, 1], [1 / 3, 2 / 3])
        middle: Mask = (xyz_mm[:, 1] >= first) & (xyz_mm[:, 1] <= second)
        return middle
    axis, sign = way
    along = sign * (np.abs(xyz_mm[:, 0]) if axis == 0 else xyz_mm[:, axis])
    beyond: Mask = along >= np.median(along)
    return beyond


def _by_label(vocabulary: Vocabulary, atlas: Atlas) -> dict[str, Region]:
    rows: dict[str, list[int]] = {}
    for row, label in enumerate(atlas.names):
        words, _ = words_of_label(label)
        if words and words in vocabulary:
            rows.setdefault(_term(vocabulary, words), []).append(row)
    return {term: _region(atlas, some) for term, some in rows.items()}


def _numbers(label: str) -> set[int]:
    """Return the numbers of Brodmann areas in a label."""
    return {int(number) for number in re.findall(r"\d+", label)}


def _term(vocabulary: Vocabulary, name: str) -> str:
    return vocabulary.terms[vocabulary.index(name)]


def _region(atlas: Atlas, rows: list[int]) -> Region:
    return Region(np.isin(atlas.regions, rows), atlas.affine)


def _density(region: Region, grid: VoxelGrid) -> NDArray[np.float32] | None:
    """Smooth a region and make it a density on the grid; None where it lies outside."""
    if not region.mask.any():
        return None
    sizes = np.abs(np.diag(region.affine)[:3])
    margin = np.ceil(TRUNCATE * SIGMA_MM / sizes).astype(int)
    filled = np.argwhere(region.mask)
    first = filled.min(axis=0) - margin  # of a box that is smoothed in place of the whole brain
    box = np.zeros(filled.max(axis=0) + margin + 1 - first, np.float32)
    box[tuple((filled - first).T)] = 1
    smooth = gaussian_filter(box, SIGMA_MM / sizes, truncate=TRUNCATE)
    inverse = np.linalg.inv(region.affine)
    voxels = grid.centers_mm @ inverse[:3, :3].T + inverse[:3, 3] - first
    values = map_coordinates(smooth, voxels.T, order=1, mode="constant")
    total = values.sum(dtype=np.float64)
    return None if total <= 0 else (values / total * len(values)).astype(np.float32)
