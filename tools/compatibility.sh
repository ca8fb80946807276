#!/usr/bin/env bash
# Run the tests on each Python: with the newest dependencies, and with the lowest that are declared.
#
#   tools/compatibility.sh WORK [CASE ...]
#
# WORK gets the environments and a log of each. A CASE is a Python and a resolution of uv's, by
# default each of 3.11:lowest-direct 3.11:highest 3.12:highest 3.13:highest. Tests of the page in a
# browser and of real data are left out: they do not depend on it. PROCESSES is how many run the
# tests at the same time, by default 2.
set -uo pipefail
work=${1:?folder for environments and logs}
shift
cases=("${@:-3.11:lowest-direct 3.11:highest 3.12:highest 3.13:highest}")
mkdir -p "$work" && work=$(realpath "$work")
cd "$(dirname "$0")/.." || exit
export NEUROWHERE_DATA=/nonexistent OPENBLAS_NUM_THREADS=1
# Of the test client of an old Starlette beside a new anyio; the server does not use it.
portal="ignore:The anyio.abc.BlockingPortal alias:DeprecationWarning"
failed=0
for case in ${cases[*]}; do
    name=${case/:/-} environment=$work/${case/:/-} log=$work/${case/:/-}.log
    rm -f "$log"
    uv venv --quiet --clear --python "${case%:*}" "$environment" &&
        VIRTUAL_ENV=$environment uv pip install --quiet --resolution "${case#*:}" --group test \
            --editable '.[cluster,docx,excel,fit,jats,mcp,pdf,serve]' &&
        "$environment/bin/python" -m pytest -q -p no:cacheprovider -n "${PROCESSES:-2}" --dist worksteal \
            -m "not browser" -W "$portal" > "$log" 2>&1 || failed=1
    printf '%-20s %s\n' "$name" "$(tail -n 1 "$log" 2> /dev/null || echo 'not installed')"
done
exit $failed
