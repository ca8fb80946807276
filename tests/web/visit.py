"""A page that is open in a browser, and all that went on in it."""

import time

PATIENCE_MS = 30_000
LOOK_MS = 20  # between two looks
READY = '#stage[aria-busy="false"][data-template="mni152"]'  # the fine one, which comes last
PICTURE = """() => {
    const map = document.getElementById("map");
    return map.dataset.pending === undefined && map.toDataURL();
}"""
# Pauses after typing are a tenth as long; shorter and longer ones are as they are.
HASTE = """
const patient = window.setTimeout;
window.setTimeout = (action, ms, ...values) =>
    patient(action, ms >= 300 && ms <= 1000 ? ms / 10 : ms, ...values);
"""


class Visit:
    """A page that is open; the errors and requests of it are kept."""

    def __init__(self, browser, url, **options):
        self.context = browser.new_context(accept_downloads=True, **options)
        self.context.add_init_script(HASTE)
        self.page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.requests, self.errors = [], []
        self.visits = 0
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._hear)
        self.page.goto(url)
        self.ready()

    def _hear(self, message):
        if message.type == "error":
            self.errors.append(message.text)

    def ready(self):
        self.page.wait_for_selector(READY)
        self.page.wait_for_selector("#regions tbody tr", state="attached")
        self.page.wait_for_selector("#map[data-drawn]:not([data-pending])")

    def until(self, condition):
        """Wait until an expression holds; as a function, which the page's policy allows."""
        self.page.wait_for_function(f"() => {condition}")

    def write(self, text):
        """Type a text, and wait until it was read and its map is there."""
        self.page.fill("#text", text)
        self.page.wait_for_function(
            "text => document.getElementById('reading').textContent === text", arg=text
        )
        self.ready()

    def go(self, fragment):
        """Ask by the address, as a link does; all that it does not name is as usual."""
        self.visits += 1
        self.page.evaluate("() => { document.getElementById('caption').textContent = ''; }")
        self.page.evaluate(f"() => {{ location.hash = '{fragment}&visit={self.visits}'; }}")
        self.until("document.getElementById('caption').textContent")
        self.ready()

    def choose(self, name, value):
        self.page.check(f"input[name={name}][value={value}]", force=True)

    def open(self, tab):
        self.page.click(f"#tab-{tab}")

    def reveal(self, selector):
        """Open the menu that an element is in."""
        self.page.eval_on_selector(selector, "each => each.closest('details.menu').open = true")

    def place(self):
        return [int(self.page.input_value(f"#{axis}")) for axis in "xyz"]

    def told_place(self):
        """Wait until it is told what is under the crosshair, which has moved."""
        self.page.wait_for_selector('#panel-place[aria-busy="false"]', state="attached")

    def regions(self):
        return self.page.text_content("#regions tbody").lower()

    def caption(self):
        return self.page.inner_text("#caption")

    def stage(self):
        """Pixels of the map, once all that was asked for is drawn."""
        return self.page.wait_for_function(PICTURE).json_value()

    def new_stage(self, *seen):
        """Wait until the stage looks like none of some pictures."""
        deadline = time.monotonic() + PATIENCE_MS / 1000
        while (picture := self.stage()) in seen:
            assert time.monotonic() < deadline
            self.page.wait_for_timeout(LOOK_MS)
        return picture

    def hold(self, pattern):
        """Keep requests waiting until they are let go."""
        held = []
        self.page.route(pattern, lambda route: held.append(route))
        return held

    def first_held(self, held):
        """Wait until a request is kept waiting, and give it."""
        deadline = time.monotonic() + PATIENCE_MS / 1000
        while not held:
            assert time.monotonic() < deadline
            self.page.wait_for_timeout(LOOK_MS)
        return held.pop(0)

    def until_address_has(self, words):
        self.page.wait_for_function("words => location.hash.includes(words)", arg=words)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.context.close()
