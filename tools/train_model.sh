#!/usr/bin/env bash
# Train the model that the package ships, from NeuroQuery's data alone, into src/neurowhere/data/model.
#
#   tools/train_model.sh WORK [DATA]
#
# WORK gets the imported corpus and the vocabulary. DATA, by default the folder named by
# NEUROWHERE_DATA, has NeuroQuery's corpus in `corpus`, lists of names in `vocabulary`, and texts that
# show how the names are used in `corpus` and `unlabelled`: nothing of these but names is kept.
# Nine minutes on one core. docs/model_card.md tells what comes out.
set -euo pipefail
work=${1:?folder for the corpus and the vocabulary} data=${2:-${NEUROWHERE_DATA:?}}
model=$(dirname "$0")/../src/neurowhere/data/model
mkdir -p "$work"
[ -d "$work/neuroquery" ] || neurowhere corpus import "$data/corpus" --from neuroquery -o "$work/neuroquery"
neurowhere vocabulary build --kind wide --sources "$data/vocabulary" -o "$work/wide.csv" --corpus "$work/neuroquery" \
    --texts "$data/corpus/rawtext_linked_dev.jsonl.gz" --texts "$data/corpus/fulltext_dev.jsonl.xz" --texts "$data/unlabelled"
neurowhere fit "$work/neuroquery" -o "$model" --overwrite --loss likelihood --vocabulary "$work/wide.csv" \
    --min-studies 10 --seed 0 --small
neurowhere model verify "$model"
