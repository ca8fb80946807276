#!/usr/bin/env bash
# The paper's study on neuroquery_dev: atlases or voxels, as one command each that can be interrupted.
#
#   benchmarks/paper_study.sh OUTPUT atlases [FOLDS] [OPTIONS...]
#   benchmarks/paper_study.sh OUTPUT voxels [FOLDS] [OPTIONS...]
#   benchmarks/paper_study.sh OUTPUT bandwidths [FOLDS] [OPTIONS...]
#   benchmarks/paper_study.sh OUTPUT literal [FOLDS] [OPTIONS...]
#
# Writes the corpus and the vocabulary beside OUTPUT once, and the comparison to OUTPUT. Options go to
# `neurowhere compare`. The development data is looked for in the folder named by NEUROWHERE_DATA.
set -euo pipefail
output=${1:?folder to write} what=${2:?atlases, voxels, bandwidths or literal} folds=${3:-100}
data=${NEUROWHERE_DATA:-$(dirname "$0")/../../shared/data}
labelled="ho_subcortical_thr25 ho_cortical_thr25 talairach_gyrus hammersmith desikan_killiany aal
          neuromorphometrics destrieux brainnetome246 aicha hcpex426"
controls="yeo17_liberal craddock200 schaefer1000"

work=$(dirname "$output")
corpus=$work/neuroquery_dev vocabulary=$work/anatomy.csv
[ -d "$corpus" ] || neurowhere corpus import "$data/corpus" --from neuroquery -o "$corpus"
[ -f "$vocabulary" ] || neurowhere vocabulary build --sources "$data/vocabulary" -o "$vocabulary" \
    --corpus "$corpus" --min-documents 5

atlases=""
for name in $labelled; do
    atlases+=",atlas:$data/atlases/$name.nii.gz:$data/atlases/${name}_labels.csv"
done
for name in $controls; do
    atlases+=",atlas:$data/atlases/$name.nii.gz"
done
three=""
for name in aal hammersmith destrieux; do
    three+=",atlas:$data/atlases/$name.nii.gz:$data/atlases/${name}_labels.csv"
done
case $what in
    atlases) choice=(--partitions "${atlases#,}" --losses l1,l2,labels) ;;
    voxels) choice=(--partitions voxels:4 --losses l1,l2) ;;
    bandwidths) choice=(--partitions voxels:4 --losses l1,l2 --bandwidths 0.5,1,2) ;;
    literal) choice=(--partitions "${three#,}" --losses labels,labels-literal) ;;
    *) echo "expected atlases, voxels, bandwidths or literal, got $what" >&2; exit 2 ;;
esac
neurowhere compare "$corpus" -o "$output" --vocabulary "$vocabulary" --folds "$folds" \
    "${choice[@]}" "${@:4}"
