"""Visitors: by which names they may address the server, and from which pages."""

import re
from collections.abc import Sequence

from starlette.datastructures import Headers

__all__ = ["LOCAL_NAMES", "host_name", "is_allowed", "is_foreign"]

LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")
ANY = "*"
HOST = re.compile(r"(\[[0-9a-f:.]+(?:%\w+)?\]|[\w.-]+)(?::(\d*))?", re.ASCII)
OWN_PAGES = ("same-origin", "none")  # of Sec-Fetch-Site; none: typed by the user
PORTS = {"http": "80", "https": "443"}


def host_name(header: str) -> str:
    """Return the name in a Host header without its port, or nothing if it is malformed.

    >>> host_name("Example.org.:8000"), host_name("[::1]:8000"), host_name("127.0.0.1")
    ('example.org', '[::1]', '127.0.0.1')
    >>> host_name("[::1]evil.example"), host_name("localhost:80@evil.example")
    ('', '')
    """
    return _place(header)[0]


def _place(header: str) -> tuple[str, str]:
    """Return the name and the port in a Host header."""
    found = HOST.fullmatch(header.strip().lower())
    return (found[1].removesuffix("."), found[2] or "") if found else ("", "")


def is_allowed(header: str, names: Sequence[str]) -> bool:
    """Return whether a Host header names this server.

    A page of another site can make its own name point to this machine (DNS rebinding); then the
    browser lets it read what the server answers, but sends that name. Programs that send no name
    at all are no browsers.

    Parameters
    ----------
    header : str
    names : sequence of str
        Beside those of this machine; "*" allows any.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_allowed("localhost:8000", ()), is_allowed("evil.example", ()), is_allowed("a.b", ["*"])
    (True, False, True)
    """
    if not header:
        return True
    name = host_name(header)
    return bool(name) and (ANY in names or name in {*LOCAL_NAMES, *map(host_name, names)})


def is_foreign(headers: Headers, origins: Sequence[str]) -> bool:
    """Return whether a page of another site has sent a request.

    A browser sends some requests, such as forms and plain text, to any site without asking it, and
    only keeps the answer to itself. It says where each comes from: in Sec-Fetch-Site, or, over
    plain HTTP to another machine, in Origin alone. Other programs send neither.

    Parameters
    ----------
    headers : Headers
    origins : sequence of str
        Other sites that are allowed; "*" for any.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_foreign(Headers({"Origin": "https://evil.example", "Host": "localhost"}), ())
    True
    >>> is_foreign(Headers({"Origin": "http://localhost:80", "Host": "localhost"}), ())
    False
    """
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    if origin is not None and {origin, ANY} & {*origins}:
        return False
    if site is not None:
        return site not in OWN_PAGES
    return origin is not None and not _is_own(origin, headers.get("host", ""))


def _is_own(origin: str, host: str) -> bool:
    """Return whether an origin is the server itself; some proxies leave the port off the host."""
    scheme, _, place = origin.partition("://")
    (name, port), (wanted, wanted_port) = _place(place), _place(host)
    same_port = not wanted_port or (port or PORTS.get(scheme)) == wanted_port
    return bool(name) and name == wanted and same_port
