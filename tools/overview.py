"""Draw README's picture: a text with what was read in it, its map, and the terms behind two places.

    python tools/overview.py

Needs Playwright and a browser, as the tests of the page do. After a new model, look at what comes.
"""

import base64
import io
import shutil

from jinja2 import Environment
from pictures import BROWSERS, FLAGS, IMAGES, record
from playwright.sync_api import sync_playwright

from neurowhere import load_model, summarise
from neurowhere.report.maps import draw_encoding
from neurowhere.report.page import asset, highlight

TEXT = (
    "Viewing fearful faces activated the right fusiform gyrus and the left amygdala. "
    "There was no activation of the thalamus."
)
N_TERMS, N_REGIONS = 5, 5
WIDTH = 1200
TEMPLATE = """<!doctype html><meta charset="utf-8"><style>{{ style }}
  body { margin: 0; padding: 18px 22px; font: 17px/1.45 system-ui, sans-serif; color: #17202c; background: #fff; }
  h2 { font-size: 15px; margin: 0 0 6px; color: #5a6675; font-weight: 600; }
  .text { font-size: 23px; line-height: 1.6; margin-bottom: 16px; }
  .map { width: 100%; display: block; margin-bottom: 12px; }
  .why { display: grid; grid-template-columns: 1fr 1fr 1fr; gap: 34px; }
  table { border-collapse: collapse; width: 100%; }
  td { padding: 1px 0; white-space: nowrap; }
  td:last-child { text-align: right; color: #5a6675; padding-left: 10px; font-variant-numeric: tabular-nums; }
  .share { text-align: right; }
  .bar { width: 46%; padding-left: 10px; }
  .bar i { display: block; height: 12px; background: #e0590c; border-radius: 2px; }
</style>
<h2>The text, as it was read: terms that raise the map, sides, and what is denied</h2>
<div class="text nw-text">{{ text }}</div>
<h2>The map: density of the coordinates that such a study would report</h2>
<img class="map" src="data:image/png;base64,{{ picture }}">
<div class="why">
  <div><h2>Regions: probability, × the mean map</h2><table>{% for row in regions %}
    <tr><td>{{ row.name }}</td><td class="share">{{ "%.0f" | format(100 * row.probability) }} %</td><td>× {{ "%.0f" | format(row.ratio) }}</td></tr>{% endfor %}</table></div>
  {% for place, terms in places %}<div><h2>Why at {{ place }}</h2><table>{% for row in terms %}
    <tr><td>{{ row.term }}</td><td class="bar"><i style="width: {{ 100 * row.contribution / terms[0].contribution }}%"></i></td>
    <td>{{ "%+.2f" | format(row.contribution) }}</td></tr>{% endfor %}</table></div>{% endfor %}
</div>"""  # noqa: E501 - as it is read


def main():
    """Encode the text, lay out what came of it, and draw it."""
    result = load_model().encode(TEXT)
    peaks = result.peaks[["x", "y", "z"]].head(2).astype(int).to_numpy().tolist()
    page = Environment(autoescape=True).from_string(TEMPLATE)
    html = page.render(
        style=asset("text.css"),
        text=highlight(result),
        picture=density_row(result),
        regions=summarise(result).regions[:N_REGIONS],
        places=[(name_of(peak), list(terms_at(result, peak))) for peak in peaks],
    )
    path = next(filter(None, map(shutil.which, BROWSERS)))
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=path, args=FLAGS) as browser,
    ):
        sheet = browser.new_page(viewport={"width": WIDTH, "height": 400})
        sheet.set_content(html)
        sheet.screenshot(path=IMAGES / "overview.png", full_page=True)
    record("tools/overview.py")


def name_of(place):
    """Return a place in mm as it is written in print."""
    return "({}, {}, {})".format(*place).replace("-", "−")


def terms_at(result, place):
    """Yield the terms that contribute most at a place."""
    yield from result.why(place).head(N_TERMS).itertuples()


def density_row(result):
    """Return the upper row of the picture of an encoding, its density, as base64 of a PNG."""
    picture = draw_encoding(result)
    row = picture.crop((0, 0, picture.width, picture.height // 2))
    file = io.BytesIO()
    row.save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode()


if __name__ == "__main__":
    main()
