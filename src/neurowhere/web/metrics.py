"""Metrics: counts and times of requests, in the text format of Prometheus."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
MEDIA_TYPE = "text/plain; version=0.0.4"


class Metrics:
    """Counts of requests by route and status, and how long they took.

    >>> metrics = Metrics()
    >>> metrics.add("/health", 200, 0.003)
    >>> print(metrics.render({"neurowhere_pending": 2}).splitlines()[1])
    neurowhere_requests_total{route="/health",status="200"} 1
    """

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, int]] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._buckets: dict[str, list[int]] = {}

    def add(self, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        self._counts[route, status] += 1
        self._seconds[route] += seconds
        buckets = self._buckets.setdefault(route, [0] * (len(BUCKETS) + 1))
        buckets[bisect_left(BUCKETS, seconds)] += 1

    def render(self, gauges: Mapping[str, float]) -> str:
        """Write all, with the present values of some gauges."""
        lines = ["# TYPE neurowhere_requests_total counter"]
        for (route, status), count in sorted(self._counts.items()):
            labels = f'route="{route}",status="{status}"'
            lines.append(f"neurowhere_requests_total{{{labels}}} {count}")
        lines.append("# TYPE neurowhere_request_seconds histogram")
        for route, buckets in sorted(self._buckets.items()):
            lines += self._histogram(route, buckets)
        for name, value in gauges.items():
            lines += [f"# TYPE {name} gauge", f"{name} {value:g}"]
        return "\n".join(lines) + "\n"

    def _histogram(self, route: str, buckets: list[int]) -> list[str]:
        name, total, lines = "neurowhere_request_seconds", 0, []
        for limit, count in zip((*map(str, BUCKETS), "+Inf"), buckets, strict=True):
            total += count
            lines.append(f'{name}_bucket{{route="{route}",le="{limit}"}} {total}')
        lines.append(f'{name}_sum{{route="{route}"}} {self._seconds[route]:.6f}')
        lines.append(f'{name}_count{{route="{route}"}} {total}')
        return lines
