#!/usr/bin/env bash
# The paper's study on neuroquery_dev: one command for each table, which can be interrupted.
#
#   benchmarks/paper_study.sh OUTPUT TABLE [FOLDS] [OPTIONS...]
#
# TABLE is one of
#   voxels      l1 and l2 on voxels of 4 mm
#   loglinear   l2 and the log-linear model of the same terms
#   bandwidths  l2 and l1 with other widths of the kernel
#   literal     l2 and the literal models
#   atlases     14 atlases: l1, l2 and models that see only labels
#   others      the atlases that are left
#   labels      two readings of the models that see only labels, on three atlases
#   full        l2, l1 and the log-linear model of NeuroQuery's vocabulary, on voxels of 4 mm
#   coarse      l2, l1 and the log-linear model of anatomical terms on voxels of 8 mm, and
#   coarse-full the same with NeuroQuery's vocabulary: a table that takes minutes, not hours
#   articles    linear models of articles without their tables
#   abstracts   linear models of the same studies, from title, keywords and abstract
#
# Writes the corpus and the vocabulary beside OUTPUT once, and the comparison to OUTPUT. Options go to
# `neurowhere compare`. The development data is looked for in the folder named by NEUROWHERE_DATA.
set -euo pipefail
output=${1:?folder to write} table=${2:?which table} folds=${3:-100}
here=$(dirname "$0")
data=${NEUROWHERE_DATA:-$here/../../shared/data}
work=$(dirname "$output")
studies=$work/neuroquery_dev anatomy=$work/anatomy.csv
[ -d "$studies" ] || neurowhere corpus import "$data/corpus" --from neuroquery -o "$studies"
[ -f "$anatomy" ] || neurowhere vocabulary build --sources "$data/vocabulary" -o "$anatomy" \
    --corpus "$studies" --min-documents 5

# Prints the atlases that are named, with their labels unless the first argument is "plain".
atlases() {
    local labels=$1 list=""
    shift
    for name in "$@"; do
        list+=",atlas:$data/atlases/$name.nii.gz"
        [ "$labels" = plain ] || list+=":$data/atlases/${name/_maxprob-thr25/}_labels.csv"
    done
    echo "${list#,}"
}

labelled="ho_subcortical_thr25 ho_cortical_thr25 talairach_gyrus hammersmith desikan_killiany aal
          neuromorphometrics destrieux brainnetome246 aicha hcpex426"
others="aal3 brodmann cerebellum_diedrichsen gordon333 harvard_oxford_maxprob-thr25 jhu_white_matter
        juelich_maxprob-thr25 marsatlas schaefer100 schaefer400 talairach_ba tian_subcortex_S1
        tian_subcortex_S4 yeo7_liberal"
corpus=$studies vocabulary=$anatomy partitions=voxels:4
case $table in
    voxels) choice=(--losses l1,l2) ;;
    loglinear) choice=(--losses l2,likelihood) ;;
    bandwidths) choice=(--losses l2,l1 --bandwidths 0.5,2) ;;
    literal) choice=(--losses l2,l2-literal,l1-literal) ;;
    atlases)
        partitions=$(atlases labels $labelled),$(atlases plain yeo17_liberal craddock200 schaefer1000)
        choice=(--losses l1,l2,labels) ;;
    others) partitions=$(atlases labels $others) choice=(--losses l1,l2,labels) ;;
    labels)
        partitions=$(atlases labels aal hammersmith destrieux)
        choice=(--losses labels,labels-literal) ;;
    coarse) partitions=voxels:8 choice=(--losses l2,likelihood,l1) ;;
    full | coarse-full)
        vocabulary=$work/full.csv choice=(--losses l2,likelihood,l1)
        [ "$table" = full ] || partitions=voxels:8
        [ -f "$vocabulary" ] || neurowhere vocabulary build --kind full --corpus "$studies" \
            --min-documents 10 --sources "$data/vocabulary" -o "$vocabulary" ;;
    articles | abstracts)
        corpus=$work/articles choice=(--losses l2,l2-literal,l1,l1-literal)
        [ -d "$corpus" ] || python "$here/articles_corpus.py" "$studies" -o "$corpus"
        [ "$table" = articles ] || corpus=$work/abstracts
        [ -d "$corpus" ] || python "$here/articles_corpus.py" "$studies" -o "$corpus" --counts ;;
    *) echo "expected a table that is named at the top of this script, got $table" >&2; exit 2 ;;
esac
neurowhere compare "$corpus" -o "$output" --vocabulary "$vocabulary" --folds "$folds" \
    --partitions "$partitions" "${choice[@]}" "${@:4}"
