#!/usr/bin/env bash
# Build the site, with its gallery, in an environment of its own; a warning is an error.
#
#   tools/site.sh WORK
#
# WORK/html gets the pages.
set -euo pipefail
work=${1:?folder for the environment and the pages}
mkdir -p "$work" && work=$(realpath "$work")
cd "$(dirname "$0")/.."
python=$work/environment/bin/python
[ -x "$python" ] || python3 -m venv "$work/environment"
"$python" -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
"$python" -m pip install --quiet --disable-pip-version-check --group docs --editable ".[cluster,docx,fit,pdf,serve]"
"$python" -m sphinx -W --keep-going -q docs "$work/html"
echo "$work/html/index.html: $(find "$work/html" -name '*.html' | wc -l) pages"
