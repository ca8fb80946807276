import csv

import pytest

from neurowhere import default_atlas
from neurowhere.text.labels import region_names, words_of_label

# Networks and data-driven parcels have no anatomical names.
CONTROLS = ("craddock", "gordon", "schaefer", "yeo")


@pytest.mark.parametrize(
    ("label", "name", "side"),
    [
        ("Frontal_Sup_2_L", "superior frontal gyrus", "left"),
        ("Frontal_Inf_Oper_R", "pars opercularis", "right"),
        ("Cingulate_Ant_L", "anterior cingulate cortex", "left"),
        ("OFClat_R", "orbitofrontal cortex", "right"),
        ("ACC_sub_L", "subgenual anterior cingulate cortex", "left"),
        ("Vermis_1_2 113", "vermis", None),
        ("Cerebelum_Crus1_L", "cerebellar crus i", "left"),
        ("Thal_PuA_R", "pulvinar", "right"),
        ("lh.G_front_inf-Triangul", "pars triangularis", "left"),
        ("ctx_rh_G_and_S_cingul-Mid-Post", "midcingulate cortex", "right"),
        ("ctx_lh_S_temporal_sup", "superior temporal sulcus", "left"),
        ("ctx-lh-caudalmiddlefrontal", "middle frontal gyrus", "left"),
        ("ctx-rh-bankssts", "superior temporal sulcus", "right"),
        ("Left-Thalamus-Proper", "thalamus", "left"),
        ("3rd-Ventricle", "third ventricle", None),
        ("G_Supp_Motor_Area-2-L", "supplementary motor area", "left"),
        ("S_Sup_Frontal-3-R", "superior frontal sulcus", "right"),
        ("N_Caudate-4-L", "caudate nucleus", "left"),
        ("Left Basal Ganglia - GP, globus pallidus", "globus pallidus", "left"),
        ("Right Superior Frontal Gyrus - A8m, medial area 8", "superior frontal gyrus", "right"),
        ("Left Thalamus - mPFtha, medial pre-frontal thalamus", "thalamus", "left"),
        ("Brodmann_area_44", "brodmann area 44", None),
        ("Right_I_IV", "lobules i iv", "right"),
        ("R_Superior_temporal_gyrus_anterior_part", "anterior superior temporal gyrus", "right"),
        ("Left_Heschl's_Gyrus_(includes_H1_and_H2)", "heschl gyrus", "left"),
        ("Intracalcaring_Cortex", "intracalcarine cortex", None),
        ("Area_PFcm_L", "supramarginal gyrus", "left"),
        ("Area_9-46d_R", "brodmann area 9", "right"),
        ("Area_IFJa_L", "inferior frontal junction", "left"),
        ("IntraParietal_Sulcus_Area_1_L", "intraparietal sulcus", "left"),
        ("GM_Broca's_area_BA44_L", "broca area", "left"),
        ("GM_Visual_cortex_V1_BA17_R", "v1", "right"),
        ("WM_Uncinate_fascicle_R", "uncinate fasciculus", "right"),
        ("R_Internal_Capsule_Anterior_Limb", "anterior limb internal capsule", "right"),
        ("Left_Cuneus(BA_18/19)", "cuneus", "left"),
        ("Right_ACgG_anterior_cingulate_gyrus", "anterior cingulate gyrus", "right"),
        ("Medial_Dorsal_Nucleus", "mediodorsal thalamic nucleus", None),
        ("pTHA-rh", "thalamus", "right"),
        ("HIP-head-l-lh", "hippocampus", "left"),
        ("7Networks_RH_Default_PFC_3", "default mode network", "right"),
        ("8_Salience+Ventral_Attention_A", "salience network", None),
        ("ctx-lh-unknown", "", "left"),
        ("Left-vessel", "", "left"),
        ("L", "", None),
        ("My own region", "my own region", None),
        ("", "", None),
        ("12", "", None),
    ],
)
def test_labels_in_words(label, name, side):
    assert words_of_label(label) == (name, side)


@pytest.mark.data
def test_nearly_all_labels_of_the_anatomical_atlases_have_names(data):
    for path in sorted((data / "atlases").glob("*_labels.csv")):
        if path.name.startswith(CONTROLS):
            continue
        with path.open(encoding="utf-8") as stream:
            names = [words_of_label(row["name"])[0] for row in csv.DictReader(stream)]
        assert sum(map(bool, names)) >= 0.94 * len(names), path.name
        assert not any("_" in name or name != name.lower() for name in names), path.name


@pytest.mark.data
def test_sides_of_labels_agree_with_where_the_regions_are(data):
    import nibabel
    import numpy as np

    for atlas in ("aal3", "destrieux", "hammersmith"):
        image = nibabel.load(data / "atlases" / f"{atlas}.nii.gz")
        voxels = np.asarray(image.dataobj).astype(int)
        with (data / "atlases" / f"{atlas}_labels.csv").open(encoding="utf-8") as stream:
            sides = {
                int(row["index"]): words_of_label(row["name"])[1] for row in csv.DictReader(stream)
            }
        places = np.argwhere(voxels > 0)
        labels = voxels[tuple(places.T)]
        x = nibabel.affines.apply_affine(image.affine, places)[:, 0]
        count = np.bincount(labels)
        mean_x = np.bincount(labels, weights=x) / np.maximum(count, 1)
        for index, side in sides.items():
            if side and index < len(count) and count[index]:
                assert (mean_x[index] < 0) == (side == "left"), (atlas, index)


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("Heschl_R", "right Heschl's gyrus"),
        ("Thal_PuM_R", "right medial pulvinar"),
        ("OFCpost_L", "left posterior orbital gyrus"),
        ("Vermis_4_5 115", "vermis lobules IV-V"),
        ("Cerebellum_7b_L", "left cerebellar lobule VIIb"),
        ("Rolandic_Oper_L", "left Rolandic operculum"),
        ("Brodmann_area_4", "Brodmann area 4"),
        ("Second_Visual_Area_L", "left V2"),
        ("Left_I_IV", "left cerebellar lobules I-IV"),
        ("Corpus_Callosum_Genu", "genu of the corpus callosum"),
        ("7Networks_RH_Vis_1", "right visual network"),
        ("ctx-lh-unknown", "left unknown"),
    ],
)
def test_names_are_shown_as_a_person_writes_them(label, name):
    assert region_names([label]) == {label: name}


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (["Left_A, a", "Left A - a"], None),
        (["HIP-head-m1-rh", "HIP-tail-rh"], ["hippocampus (head m1)", "hippocampus (tail)"]),
        (["pTHA-rh", "aTHA-rh"], ["thalamus (posterior)", "thalamus (anterior)"]),
        (
            ["7Networks_RH_Cont_Par_1", "7Networks_RH_Cont_PFCl_3"],
            ["frontoparietal control network (Par 1)", "frontoparietal control network (PFCl 3)"],
        ),
        (
            ["Right Insular Gyrus - G, hypergranular insula", "Right Insula"],
            ["insula (hypergranular)", "insula"],
        ),
        (
            ["CC_Anterior_R", "CC_Central_R"],
            ["corpus callosum (anterior)", "corpus callosum (central)"],
        ),
    ],
)
def test_names_that_would_be_alike_are_told_apart(labels, names):
    shown = list(region_names(labels).values())
    assert len(set(shown)) == len(labels)
    assert names is None or shown == [f"right {name}" for name in names]


def test_names_of_the_default_atlas_are_words():
    labels = default_atlas().names
    names = region_names(labels)
    assert len(set(names.values())) == len(labels)
    assert not any("_" in name or "(" in name for name in names.values())


@pytest.mark.data
def test_no_name_that_is_shown_has_separators(data):
    for path in sorted((data / "atlases").glob("*_labels.csv")):
        with path.open(encoding="utf-8") as stream:
            names = region_names(row["name"] for row in csv.DictReader(stream))
        assert len(set(names.values())) == len(names), path.name
        assert sum("_" in name for name in names.values()) <= 4, path.name
