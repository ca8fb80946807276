"""Visitors: by which names the server may be addressed, and how often one address may ask."""

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable

__all__ = ["LOCAL_NAMES", "Rates", "host_name", "is_allowed"]

LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")
ANY = "*"
MAX_ADDRESSES = 10_000  # that are remembered; the one that asked least recently is forgotten
SECONDS_PER_MINUTE = 60


def host_name(header: str) -> str:
    """Return the name in a Host header, without its port.

    >>> host_name("Example.org.:8000"), host_name("[::1]:8000"), host_name("127.0.0.1")
    ('example.org', '[::1]', '127.0.0.1')
    """
    name = header.strip().lower()
    if name.startswith("["):
        return name.partition("]")[0] + "]"
    return name.partition(":")[0].removesuffix(".")


def is_allowed(header: str, names: Iterable[str]) -> bool:
    """Return whether a Host header names this server.

    A page of another site can make its own name point to this machine (DNS rebinding); then the
    browser lets it read what the server answers, but sends that name. Programs that send no name
    at all are no browsers.

    Parameters
    ----------
    header : str
    names : iterable of str
        Beside those of this machine; "*" allows any.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_allowed("localhost:8000", ()), is_allowed("evil.example", ()), is_allowed("a.b", ["*"])
    (True, False, True)
    """
    allowed = {*LOCAL_NAMES, *(host_name(name) for name in names)}
    return not header or ANY in allowed or host_name(header) in allowed


class Rates:
    """Limits how often each address may ask: a token bucket for each.

    An address that was silent for a minute may ask `per_minute` times at once; after that its
    bucket fills at `per_minute` a minute.

    Parameters
    ----------
    per_minute : int
        0 for no limit.
    clock : callable
        Returns seconds.

    Examples
    --------
    >>> rates = Rates(2, clock=lambda: 0.0)
    >>> [rates.wait_for("10.0.0.1") for _ in range(3)]
    [0, 0, 30]
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_minute = per_minute
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens, since

    def wait_for(self, address: str) -> int:
        """Count a query, and return 0; or the seconds after which it would be welcome."""
        if not self.per_minute:
            return 0
        now = self._clock()
        pace = self.per_minute / SECONDS_PER_MINUTE
        tokens, since = self._buckets.pop(address, (float(self.per_minute), now))
        tokens = min(tokens + (now - since) * pace, self.per_minute)
        welcome = tokens >= 1
        self._buckets[address] = (tokens - welcome, now)
        if len(self._buckets) > MAX_ADDRESSES:
            self._buckets.popitem(last=False)
        return 0 if welcome else math.ceil((1 - tokens) / pace)
