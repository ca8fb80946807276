#!/usr/bin/env bash
# Build the sdist, the wheel from it, and check both; then install the wheel on each Python given.
#
#   tools/package.sh WORK [PYTHON ...]
#
# WORK/dist gets the files. Checks: twine (metadata, README), check-wheel-contents, and cffconvert for
# CITATION.cff, in an environment of its own because it needs old packages; the workflow against its
# schema; and the conda recipe, which is rendered, not built. Each PYTHON, such as
# python3.12, gets a clean environment with the wheel alone, and encodes a text outside of the clone.
set -euo pipefail
work=${1:?folder for environments and packages}
shift
mkdir -p "$work" && work=$(realpath "$work")
cd "$(dirname "$0")/.."
root=$PWD

environment() { # name package...
    local place=$work/$1
    shift
    [ -x "$place/bin/python" ] || python3 -m venv "$place"
    "$place/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
}

# A copy without history and tags: the version has to come from pyproject.toml alone.
tree=$work/tree
rm -rf "$tree" "$work/dist" && mkdir -p "$tree"
git ls-files -z | xargs -0 cp --parents -t "$tree"
environment tools build check-wheel-contents twine
(cd "$tree" && "$work/tools/bin/python" -m build --outdir "$work/dist" .)
"$work/tools/bin/twine" check --strict "$work"/dist/*
"$work/tools/bin/check-wheel-contents" "$work"/dist/*.whl
environment cff cffconvert
"$work/cff/bin/cffconvert" --validate --infile "$root/CITATION.cff"
environment release check-jsonschema py-rattler-build
"$work/release/bin/check-jsonschema" --builtin-schema vendor.github-workflows .github/workflows/*.yml
(cd conda && "$work/release/bin/python" - << 'RENDER'
from rattler_build import PlatformConfig, RenderConfig, Stage0Recipe, VariantConfig

platform = PlatformConfig(target_platform="linux-64", experimental=True)  # reads pyproject.toml
for output in Stage0Recipe.from_file("recipe.yaml").render(VariantConfig(), RenderConfig(platform)):
    package = output.recipe.package
    print(f"conda recipe: {package.name} {package.version}")
RENDER
)

for python in "$@"; do
    clean=$work/clean-$(basename "$python")
    rm -rf "$clean"
    "$python" -m venv "$clean"
    "$clean/bin/python" -m pip install --quiet --disable-pip-version-check "$work"/dist/*.whl
    "$clean/bin/python" -m pip check
    (cd "$work" && "$clean/bin/neurowhere" --version && "$clean/bin/neurowhere" model verify &&
        "$clean/bin/neurowhere" encode "left amygdala" --json > /dev/null)
    echo "$("$clean/bin/python" --version): the wheel works"
done
