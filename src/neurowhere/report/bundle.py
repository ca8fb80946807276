"""Bundle: the modules of the page as one file, and names of files that say what is in them.

The page is written as modules, which a browser could load one by one. Sent as one file, it is there
after one round trip; with the hash of its content in its name, a browser may keep it for good.
"""

import hashlib
import re
from collections.abc import Callable, Mapping

IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w-]+)\.js";\n', re.M)
EXPORT = re.compile(r"^export (?=(?:async function|function|const|let|class) ([\w$]+))", re.M)
LINK = re.compile(r'(?<=")static/([\w-]+)\.([\w.]+)(?=")')
DIGITS = 12  # digits of a hash in a name


def bundle(entry: str, sources: Mapping[str, str]) -> str:
    r"""Return a module and all that it imports as one script.

    Each module that is imported becomes a function that is called once.

    `entry` is the name of the module to run, without ``.js``; `sources` has the text of each file.

    >>> first = 'import { b as c } from "./b.js";\nc();'
    >>> files = {"a.js": first, "b.js": "export const b = 1;"}
    >>> print(bundle("a", files))
    const $b = (() => {
    const b = 1;
    return { b };
    })();
    const { b: c } = $b;
    c();
    """
    parts: dict[str, str] = {}
    under_way: list[str] = []

    def add(name: str) -> None:
        if name in under_way:
            raise ValueError(f"modules import each other: {' → '.join([*under_way, name])}")
        under_way.append(name)
        source = sources[f"{name}.js"]
        for _, other in IMPORT.findall(source):
            if other not in parts:
                add(other)
        parts[name] = _as_function(name, source) if under_way[1:] else _body(name, source)
        under_way.pop()

    add(entry)
    return "".join(parts.values())


def _as_function(name: str, source: str) -> str:
    names = ", ".join(match[1] for match in EXPORT.finditer(source))
    return f"const ${name} = (() => {{\n{_body(name, source)}\nreturn {{ {names} }};\n}})();\n"


def _body(name: str, source: str) -> str:
    body = IMPORT.sub(
        lambda found: f"const {{{found[1].replace(' as ', ': ')}}} = ${found[2]};\n", source
    )
    body = EXPORT.sub("", body).rstrip()
    if left := re.search(r"^(?:import|export)\b.*", body, re.M):
        raise ValueError(
            f"expected imports by name and exports of names, got {left[0]!r} in {name}"
        )
    return body


def digest(content: bytes) -> str:
    """Return the hash of a file's content, as it stands in its name."""
    return hashlib.sha256(content).hexdigest()[:DIGITS]


def with_hashes(page: str, hash_of: Callable[[str], str]) -> str:
    """Put the hashes of files into their addresses in a page.

    >>> with_hashes('<img src="static/icon.svg">', lambda name: "c0ffee")
    '<img src="static/icon.c0ffee.svg">'
    """
    return LINK.sub(lambda found: f"static/{found[1]}.{hash_of(found[0][7:])}.{found[2]}", page)
