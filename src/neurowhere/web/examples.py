"""Examples: one answer of each kind for the documentation, its lists cut short.

None holds a null, which FastAPI would leave out.
"""

from typing import Any

Example = dict[str, Any]

TEXT = (
    "Acute left MCA infarct involving the insula and the inferior frontal gyrus, "
    "with aphasia. No lesion in the right thalamus."
)
SUPPORT = {
    "level": "good",
    "terms": 8,
    "words": 20,
    "unknown": 1,
    "foreign": False,
    "nats": 0.8485,
    "summary": "good (8 known terms, 1 unknown word; expected gain over the mean map 0.85 nats)",
}
REGION = {
    "region": "Frontal_Inf_Tri_L",
    "name": "left pars triangularis",
    "probability": 0.1345,
    "ratio": 6.333,
    "excess": 0.1133,
    "at": [-42, 18, 4],
    "why": [],
}
PEAK = {
    "at": [-42, 18, 4],
    "density": 2.795e-05,
    "ratio": 17.59,
    "region": "Frontal_Inf_Tri_L",
    "name": "left pars triangularis",
}
REASONS = [
    {"term": "inferior frontal gyrus", "contribution": 1.276},
    {"term": "insula", "contribution": 0.5872},
]
STUDY = {
    "id": "21195295",
    "similarity": 0.9477,
    "link": "https://pubmed.ncbi.nlm.nih.gov/21195295/",
    "title": "An fMRI study of acupuncture-induced brain activation of aphasia stroke patients",
}
SUMMARY: Example = {
    "schema_version": 1,
    "support": SUPPORT,
    "unit": "log probability",
    "terms": [
        {
            "term": "aphasia",
            "count": 1,
            "weight": 0.4833,
            "contribution": 0.2053,
            "where": [[81, 88]],
            "implied": False,
        }
    ],
    "mentions": [
        {
            "term": "thalamus",
            "known": True,
            "where": [113, 121],
            "side": "right",
            "side_where": [107, 112],
            "side_inherited": False,
            "status": "denied",
            "negation_where": [90, 92],
            "hedge_where": None,
            "section": None,
        }
    ],
    "unapplied_sides": [],
    "unknown": [{"word": "Acute", "where": [0, 5], "suggestions": []}],
    "rules": [
        {
            "name": "MCA",
            "where": [11, 14],
            "applied": True,
            "structures": [{"term": "insula", "side": "left"}],
        }
    ],
    "regions": [REGION],
    "peaks": [PEAK],
    "similar": [STUDY],
}
ENCODE: Example = {
    **SUMMARY,
    "place": {
        "at": [-46, 18, 8],
        "region": "Frontal_Inf_Tri_L",
        "name": "left pars triangularis",
        "density": 2.396e-05,
        "ratio": 15.81,
        "why": REASONS,
    },
    "sentences": [
        {
            "where": [0, 89],
            "support": SUPPORT,
            "terms": ["inferior frontal gyrus"],
            "regions": [REGION],
        }
    ],
}
BATCH: Example = {"results": [SUMMARY]}
DIFFERENCE: Example = {
    "text": SUMMARY,
    "other": SUMMARY,
    "distance": 0.2806,
    "difference": SUMMARY,
    "more": [
        {
            "region": "Postcentral_L",
            "name": "left postcentral gyrus",
            "probability": 0.08352,
            "other": 0.02408,
            "ratio": 3.468,
            "at": [-54, -6, 28],
        }
    ],
    "less": [
        {
            "region": "Temporal_Mid_L",
            "name": "left middle temporal gyrus",
            "probability": 0.03977,
            "other": 0.07404,
            "ratio": 0.5371,
            "at": [-58, -26, 0],
        }
    ],
}
TERM: Example = {
    "name": "left amygdala",
    "term": "amygdala",
    "side": "left",
    "method": "restricted",
    "unit": "log probability",
    "peaks": [[-22, -6, -16]],
}
DECODE: Example = {
    "terms": [{"term": "amygdala", "score": 3.548, "ratio": 34.76}],
    "studies": [STUDY],
    "regions": [
        {
            "region": "Amygdala_L",
            "name": "left amygdala",
            "probability": 0.4182,
            "ratio": 61.4,
            "at": [-24.0, -4.0, -18.0],
        }
    ],
    "outside": 0,
    "threshold": None,
    "notes": [],
}
RELATED: Example = {"terms": [{"term": "task switching", "closeness": 0.6134}]}
DOCUMENT: Example = {"text": "Acute infarct of the left insula.", "characters": 33}
FOUND: Example = {
    **DOCUMENT,
    "id": "21195295",
    "title": "Infarcts of the insula",
    "collection": "articles",
}
MASK: Example = {
    "region": "Amygdala_L",
    "name": "left amygdala",
    "at": [-24.0, 0.0, -18.0],
    "volume_mm3": 1732.0,
}
TERMS: Example = {"terms": ["amygdala", "aphasia", "working memory"]}
MODEL: Example = {
    "version": "0.1.0",
    "studies": 12100,
    "terms": 2856,
    "atlas": "165 regions",
    "limits": {"max_body": 1_000_000, "max_text": 50_000, "max_batch": 100},
}
HEALTH: Example = {"status": "ok", "version": "0.1.0", "pending": 0, "capacity": 66}
READY: Example = {
    "status": "ready",
    "workers": [{"state": "ready", "memory_mb": 170.2, "restarts": 0}],
    "artist": {"state": "busy", "memory_mb": 340.5, "restarts": 0},
}
JOB: Example = {
    "id": "i3Hn0ygTzpQb6NLuWwIgD4bW",
    "kind": "batch",
    "state": "done",
    "done": 5000,
    "total": 5000,
    "kept_seconds": 600,
}
CONTRAST: Example = {
    "group": "mention fear",
    "against": "",
    "about": {"documents": 4200, "documents_in_group": 310, "seed": 0},
    "significant": 512,
    "regions": [
        {
            "region": "Amygdala_L",
            "name": "left amygdala",
            "at": [-22.0, -6.0, -16.0],
            "ratio": 2.31,
            "low": 2.05,
            "high": 2.6,
            "probability": 0.031,
            "reference": 0.0134,
        }
    ],
    "terms": [
        {
            "term": "fear",
            "share": 0.97,
            "share_reference": 0.07,
            "moves": 0.104,
            "x": -22,
            "y": -6,
            "z": -16,
        }
    ],
    "documents": [{"group": 1, "id": "21195295", "mentions": 14, "weight": 1}],
}
PROBLEM: Example = {
    "type": "about:blank",
    "title": "Unprocessable Entity",
    "status": 422,
    "detail": "The field text is missing.",
    "code": "invalid_request",
    "hint": "See the page /docs of this server.",
}
METRICS = 'neurowhere_requests_total{route="/api/v1/encode",status="200"} 12\n'
