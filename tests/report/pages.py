"""A page of HTML, taken apart."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """Collects elements, what they refer to, and the text outside of scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.addresses, self.attributes, self.words = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]
        self.addresses += [
            (tag, name, value)
            for name, value in attrs
            if name in ("src", "href", "srcset", "action", "data", "poster")
        ]

    def handle_data(self, data):
        if self.tags[-1:] not in (["script"], ["style"]):
            self.words.append(data)
