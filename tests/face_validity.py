"""Texts whose place in the brain every textbook tells, and that place in AAL3."""

# Text: how the names of its regions in AAL3 begin, any of which will do.
KNOWN = {
    # Parts of the brain.
    "amygdala": ["Amygdala"],
    "the hippocampus": ["Hippocampus"],
    "primary visual cortex": ["Calcarine"],
    "Heschl's gyrus": ["Heschl"],
    "insula": ["Insula"],
    "putamen": ["Putamen"],
    "caudate nucleus": ["Caudate"],
    "thalamus": ["Thal"],
    "fusiform gyrus": ["Fusiform"],
    "precuneus": ["Precuneus"],
    "supplementary motor area": ["Supp_Motor_Area"],
    "nucleus accumbens": ["N_Acc"],
    "parahippocampal gyrus": ["ParaHippocampal"],
    "cerebellum": ["Cerebellum", "Vermis"],
    "angular gyrus": ["Angular"],
    "anterior cingulate cortex": ["ACC"],
    "substantia nigra": ["SN_p"],
    "orbitofrontal cortex": ["OFC", "Frontal_Inf_Orb", "Frontal_Med_Orb", "Rectus"],
    # Functions.
    "hand movement": ["Precentral", "Postcentral"],
    "finger tapping": ["Precentral", "Postcentral"],
    "face perception": ["Fusiform"],
    "reading words": ["Fusiform", "Occipital_Inf", "Temporal_Inf"],
    "speech production": ["Precentral", "Rolandic_Oper", "Frontal_Inf_Oper"],
    "listening to sounds": ["Temporal_Sup", "Heschl"],
    "music perception": ["Temporal_Sup", "Heschl"],
    "working memory": ["Frontal_Mid", "Parietal_Inf", "Parietal_Sup"],
    "episodic memory encoding": ["Hippocampus", "ParaHippocampal"],
    "painful stimulation": ["Insula", "Cingulate_Mid"],
    "monetary reward anticipation": ["N_Acc", "Caudate", "Putamen"],
    "fear conditioning": ["Amygdala"],
    "spatial navigation": ["Hippocampus", "ParaHippocampal"],
    "tactile stimulation of the hand": ["Postcentral"],
    "visual motion perception": ["Temporal_Mid", "Occipital_Mid"],
    "saccades and eye movements": ["Precentral", "Frontal_Sup", "Parietal_Sup"],
    "theory of mind": ["Temporal_Mid", "Angular", "Precuneus", "Frontal_Sup_Medial"],
    "mental arithmetic and calculation": ["Parietal_Inf", "Parietal_Sup"],
    "taste and gustatory stimuli": ["Insula"],
    "olfactory stimulation with odors": ["Olfactory", "Amygdala", "OFC", "ParaHippocampal"],
    "response inhibition in a stop signal task": ["Frontal_Inf_Oper", "Insula", "Frontal_Inf_Tri"],
    "viewing pictures of scenes and places": ["ParaHippocampal", "Fusiform", "Lingual"],
    "swallowing": ["Precentral", "Postcentral", "Rolandic_Oper"],
    "syntactic processing of sentences": ["Frontal_Inf_Tri", "Frontal_Inf_Oper", "Temporal_Mid"],
    "resting state default mode network": ["Precuneus", "Cingulate_Post", "Frontal_Sup_Medial"],
    # Disorders.
    "Broca's aphasia": ["Frontal_Inf_Oper", "Frontal_Inf_Tri"],
    "Parkinson's disease": ["Putamen", "SN_p", "Caudate"],
    "Huntington's disease": ["Caudate", "Putamen"],
    "hemispatial neglect": ["Temporal_Sup", "Parietal_Inf", "Angular", "SupraMarginal"],
    "post-traumatic stress disorder": ["Amygdala", "Hippocampus"],
    "prosopagnosia": ["Fusiform"],
    "temporal lobe epilepsy": ["Hippocampus", "Temporal_Pole", "ParaHippocampal"],
    "semantic dementia": ["Temporal_Pole", "Temporal_Inf", "Fusiform"],
    "Alzheimer's disease": ["Hippocampus", "ParaHippocampal", "Precuneus", "Cingulate_Post"],
    "developmental dyslexia": ["Fusiform", "Temporal_Inf", "Temporal_Mid", "Parietal_Inf"],
    "cocaine addiction and craving": ["N_Acc", "Caudate", "Putamen", "ACC"],
    "auditory hallucinations": ["Temporal_Sup", "Heschl"],
    # Reports.
    "A 54-year-old man with an infarct of the left insula and loss of taste.": ["Insula_L"],
    "MRI showed bilateral hippocampal atrophy with anterograde amnesia.": ["Hippocampus"],
    "Haemorrhage in the right putamen; no lesion of the thalamus.": ["Putamen_R"],
    "Resection of the left anterior temporal lobe; naming of famous faces impaired.": [
        "Temporal_Pole_Sup_L",
        "Temporal_Pole_Mid_L",
    ],
    "Right occipital infarct with left homonymous hemianopia.": [
        "Calcarine_R",
        "Lingual_R",
        "Occipital_Mid_R",
    ],
}

# Texts that the shipped model gets wrong, as docs/benchmarks/decoding.md says.
MISSED: set[str] = set()


def judge(encoding, atlas, names):
    """Rank of the first of the regions, and how much likelier they all are than by the mean map."""
    table = encoding.regions(atlas)
    known = table[[region.startswith(tuple(names)) for region in table["region"]]]
    ratio = known["probability"].sum() / (known["probability"] / known["ratio"]).sum()
    return int(known.index.min()) + 1, float(ratio)
