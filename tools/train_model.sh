#!/usr/bin/env bash
# Train the model that the package ships, from NeuroQuery's data alone, into src/neurowhere/data/model.
#
#   tools/train_model.sh WORK [DATA]
#
# WORK gets the imported corpus and the vocabulary. DATA, by default the folder named by
# NEUROWHERE_DATA, has NeuroQuery's corpus in `corpus` and its term lists in `vocabulary`.
# Nine minutes on one core. docs/model_card.md tells what comes out.
set -euo pipefail
work=${1:?folder for the corpus and the vocabulary} data=${2:-${NEUROWHERE_DATA:?}}
model=$(dirname "$0")/../src/neurowhere/data/model
mkdir -p "$work"
[ -d "$work/neuroquery" ] || neurowhere corpus import "$data/corpus" --from neuroquery -o "$work/neuroquery"
neurowhere vocabulary build --kind full --sources "$data/vocabulary" -o "$work/full.csv"
neurowhere fit "$work/neuroquery" -o "$model" --overwrite --loss likelihood --vocabulary "$work/full.csv" \
    --min-studies 10 --seed 0 --small
neurowhere model verify "$model"
