"""Reports: whether whole reports, written by others, are drawn where their findings are.

    python benchmarks/reports.py [--worst N -o FILE]

Reports of `cases/reports_*.jsonl` (304, five styles) and `cases/machine_*.jsonl` (60 lesions, each
in a long and a short style) name a seat, by its group of AAL3 regions and its side, and what must
not be raised. Of the frozen halves, totals alone are printed. Each set is drawn as a report and as
a study, the product of all words that was the only formula before.

first    share of seats' groups that are first by the ratio to the mean map, and by mass
below    share of them that are drawn below the mean map
side     reports of one side with at least three times the mass on it; opposite: with less than half
seat     share of the map within the seat's regions
normal   share of places without a finding that are drawn below the mean map
50, 80, 95 %  share of the seats' volume within the region that should hold as much

--worst writes the reports of the open half that are drawn worst, with what is wrong, on one page.
"""

import argparse
import html
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd

from neurowhere import default_atlas, load_model
from neurowhere.model.summary import summarise
from neurowhere.report.maps import draw_encoding, write_png
from neurowhere.report.page import inlined
from neurowhere.space.geometry import gazetteer_of, side_of_regions
from setting import print_table

CASES = Path(__file__).parent / "cases"
SHARES = (0.5, 0.8, 0.95)
SIDE_CLEAR = 3.0  # times the mass of the other side
BRAIN_STEM = ("midbrain", "pons", "medulla", "brainstem")  # not regions of AAL3
GROUPS = {
    "frontal": "Precentral Frontal_Sup_2 Frontal_Mid_2 Frontal_Inf_Oper Frontal_Inf_Tri "
    "Frontal_Inf_Orb_2 Rolandic_Oper Supp_Motor_Area Olfactory Frontal_Sup_Medial Frontal_Med_Orb "
    "Rectus OFCmed OFCant OFCpost OFClat ACC_sub ACC_pre ACC_sup Cingulate_Mid",
    "parietal": "Postcentral Parietal_Sup Parietal_Inf SupraMarginal Angular Precuneus "
    "Paracentral_Lobule Cingulate_Post",
    "temporal": "Hippocampus ParaHippocampal Amygdala Fusiform Heschl Temporal_Sup "
    "Temporal_Pole_Sup Temporal_Mid Temporal_Pole_Mid Temporal_Inf",
    "occipital": "Calcarine Cuneus Lingual Occipital_Sup Occipital_Mid Occipital_Inf",
    "insula": "Insula",
    "thalamus": "Thal_AV Thal_LP Thal_VA Thal_VL Thal_VPL Thal_IL Thal_Re Thal_MDm Thal_MDl "
    "Thal_LGN Thal_MGN Thal_PuI Thal_PuM Thal_PuA Thal_PuL",
    "basal ganglia": "Caudate Putamen Pallidum N_Acc",
    "cerebellum": "Cerebellum_Crus1 Cerebellum_Crus2 Cerebellum_3 Cerebellum_4_5 Cerebellum_6 "
    "Cerebellum_7b Cerebellum_8 Cerebellum_9 Cerebellum_10 Vermis_1_2 Vermis_3 Vermis_4_5 Vermis_6 "
    "Vermis_7 Vermis_8 Vermis_9 Vermis_10",
    "brain stem": "brainstem VTA SN_pc SN_pr Red_N LC Raphe_D Raphe_M",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worst", type=int, default=50, metavar="N")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    model = load_model()
    judge = Judge(model)
    rows, worst, drawn = [], [], []
    for name, some in read_sets():
        reports = [report for report in some if report["seats"]]
        normal = model.encode_many(report["text"] for report in some if not report["seats"])
        told = [encoding.support.level for encoding in normal]
        drawn += [[name, len(told), len(told) - told.count("none")]] if told else []
        for kind in (None, "study"):
            texts = (report["text"] for report in reports)
            encodings = list(model.encode_many(texts, kind=kind))
            scores = pd.DataFrame([judge.score(*pair) for pair in zip(reports, encodings)])
            rows.append(as_row(name, "as a study" if kind else "as a report", scores))
            if kind is None and name == "reports, open":
                worst = sorted(zip(scores.to_dict("records"), reports, encodings), key=badness)
    print_table(list(rows[0]), [list(row.values()) for row in rows])
    print_table(["set", "reports without a finding", "drawn"], drawn)
    if arguments.output:
        arguments.output.write_text(sheet(worst[: arguments.worst], judge), "utf-8")


def read_sets():
    for part in ("fresh", "late_open", "late_frozen"):
        yield f"reports, {part.replace('_', ' ')}", read_jsonl(f"reports_{part}")
    for part in ("open", "frozen"):
        yield f"reports, {part}", read_jsonl(f"reports_{part}")
        machine = read_jsonl(f"machine_{part}")
        for style in ("long", "short"):
            some = [report for report in machine if report["style"] == style]
            yield f"machine-written, {style}, {part}", some


def read_jsonl(name):
    return [json.loads(line) for line in (CASES / f"{name}.jsonl").read_text("utf-8").splitlines()]


class Judge:
    """Scores the map of a report by what it names."""

    def __init__(self, model):
        self.mean, self.sides = model.mean_map_, side_of_regions(model.partition_)
        gazetteer = gazetteer_of(default_atlas(), model.partition_)
        volumes = model.partition_.volumes_mm3
        self.shares = {
            label: np.asarray(gazetteer.shared_mm3[row].todense()).ravel() / volumes
            for row, label in enumerate(gazetteer.atlas.names)
        }
        prior, vocabulary = model.predictor_.prior, model.vocabulary_
        self.shares |= {
            name: prior.region_of(vocabulary.index(name)).astype(float) for name in BRAIN_STEM
        }
        self.whole = {group: self.inside(group, [], "both") for group in GROUPS}

    def inside(self, group, regions, side):
        """Return how much of each region of the model is in some regions of a group."""
        found = np.zeros(len(self.mean))
        endings = {"left": ["_L"], "right": ["_R"]}.get(side, ["_L", "_R", ""])
        for region in regions or GROUPS[group].split():
            if region in BRAIN_STEM:
                sign = {"left": 1, "right": -1}.get(side, 0)
                half = np.clip(1 + sign * self.sides, 0, 1)
                found = np.maximum(found, self.shares[region] * half)
            labels = [region + ending for ending in endings if region + ending in self.shares]
            for label in labels if region not in BRAIN_STEM else ():
                found = np.maximum(found, self.shares[label])
        return found

    def inside_of(self, place):
        """Return the same for a place of a label."""
        return self.inside(place["group"], place["regions"], place["side"])

    def ratio(self, q, inside):
        """Return how many times as probable as in the mean map a place is."""
        return float(q @ inside / (self.mean @ inside))

    def score(self, report, encoding):
        """Return the scores of one report."""
        q, seats = encoding.probabilities, report["seats"]
        groups = {seat["group"] for seat in seats}
        mass = {group: float(q @ inside) for group, inside in self.whole.items()}
        ratio = {group: self.ratio(q, inside) for group, inside in self.whole.items()}
        seat = np.max([self.inside_of(place) for place in seats], axis=0)
        normal = [self.inside_of(place) for place in report["not_raised"]]
        return {
            "first by ratio": np.mean([group in top(ratio, len(groups)) for group in groups]),
            "by mass": np.mean([group in top(mass, len(groups)) for group in groups]),
            "below": np.mean([ratio[group] < 1 for group in groups]),
            "ratio": np.mean([ratio[group] for group in groups]),
            **self.score_side(q, {seat["side"] for seat in seats}),
            "seat": float(q @ seat),
            **{
                f"{share:.0%}": float(seat @ encoding.holding(share) / seat.sum())
                for share in SHARES
            },
            "normal": np.mean([self.ratio(q, each) < 1 for each in normal]) if normal else np.nan,
        }

    def score_side(self, q, sides):
        """Return whether the map is on the side of a report that has one."""
        if sides not in ({"left"}, {"right"}):
            return {"side": np.nan, "opposite": np.nan}
        left, right = float(q @ np.clip(self.sides, 0, 1)), float(q @ np.clip(-self.sides, 0, 1))
        own, other = (left, right) if sides == {"left"} else (right, left)
        return {"side": own >= SIDE_CLEAR * other, "opposite": other > 2 * own}


def top(values, n):
    return sorted(values, key=values.get, reverse=True)[:n]


def as_row(name, formula, scores):
    row = {"set": name, "n": len(scores), "drawn": formula}
    for column in scores.columns.drop("ratio"):
        values = scores[column].astype(float)
        row[column] = "–" if values.isna().all() else f"{values.mean():.1%}"
    return row | {"median ratio": f"{scores['ratio'].median():.1f}"}


def badness(item):
    score = item[0]
    side = 1 if np.isnan(score["side"]) else score["side"]
    normal = 1 if np.isnan(score["normal"]) else score["normal"]
    return score["first by ratio"] + score["by mass"] + side + normal + score["seat"]


# ---- a page of the worst


def sheet(worst, judge):
    """Return a page with the text, the map and what is wrong of some reports."""
    style = "body{font:14px sans-serif}section{display:flex;gap:1em;margin:1em 0}"
    style += "pre{width:48em;white-space:pre-wrap}img{width:44em}"
    parts = [entry(*item, judge) for item in worst]
    return f"<!doctype html><meta charset=utf-8><style>{style}</style>{''.join(parts)}"


def entry(score, report, encoding, judge):
    wrong = [key for key in ("first by ratio", "by mass", "side", "normal") if score[key] < 1]
    wrong += ["below"] * (score["below"] > 0)
    raised = [
        f"{place_in_words(place)} ({place['why']})"
        for place in report["not_raised"]
        if judge.ratio(encoding.probabilities, judge.inside_of(place)) >= 1
    ]
    regions = summarise(encoding, n_regions=6).regions
    lines = [
        f"<b>{report['id']}</b> seat: {', '.join(map(place_in_words, report['seats']))}",
        f"wrong: {', '.join(wrong)}",
        f"raised: {', '.join(raised)}",
        f"drawn: {', '.join(region.name for region in regions)}",
    ]
    picture = io.BytesIO()
    write_png(draw_encoding(encoding), picture)
    return (
        f"<section><div>{'<br>'.join(lines)}<br><img src='{inlined(picture.getvalue())}'></div>"
        f"<pre>{html.escape(report['text'])}</pre></section>"
    )


def place_in_words(place):
    return " ".join([place["side"], place["group"], *place["regions"]])


if __name__ == "__main__":
    main()
