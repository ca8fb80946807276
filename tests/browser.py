"""What a page in a browser is asked, beside what it shows."""

from pathlib import Path

PATIENCE_MS = 120_000  # the browser draws without a graphics card
# What is in order is not sent: it is a hundred times as much.
VIOLATIONS = """
() => axe.run({ resultTypes: ["violations"] }).then(({ violations }) => violations)
"""


def serious_problems(page):
    """What axe-core finds serious or worse: rules and elements."""
    import axe_playwright_python  # carries the source of axe-core

    if page.evaluate("typeof axe") == "undefined":  # half a megabyte, once for each page
        page.evaluate((Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text())
    found = page.evaluate(VIOLATIONS)
    return [
        (rule["id"], [node["target"] for node in rule["nodes"]][:3])
        for rule in found
        if rule["impact"] in ("serious", "critical")
    ]
