"""Endurance of ``neurowhere serve``: mixed requests for a long time, while workers are killed.

Many connections send texts, places, images, and now and then ask for a figure or a report, or start
a job. Each minute one worker is killed. Another connection asks for health ten times a second.

    python benchmarks/serve_mixed.py --minutes 60                 # as fast as it answers
    python benchmarks/serve_mixed.py --minutes 60 --rate 20       # 20 requests a second
    setsid -w python benchmarks/serve_mixed.py --nice -10         # before other work; needs root

It prints each minute the most memory and the slowest health in it, and other load; then a table of
all requests, with the codes of those that were refused. The aim: no status but 200, 202 and 503;
memory that does not grow; health within 200 ms; a worker never above 220 MB.
"""

import argparse
import asyncio
import gzip
import itertools
import json
import os
import random
import signal
import statistics
import time
from collections import Counter, defaultdict
from pathlib import Path

from serve_load import Client, Server, abstracts, add_priority, come_first, percentile

WEIGHTS = {
    "encode": 60,
    "decode": 12,
    "map": 10,
    "upload": 8,
    "difference": 5,
    "figure": 2,
    "report": 1,
    "job": 2,
}
ALLOWED = {200, 202, 503}
HEALTH_SECONDS = 0.1
RETRY_SECONDS = 0.2
WORKER_MB = 220
LOOK_SECONDS = 5.0  # between two looks at memory
LOOKS = 12  # of a minute
PARTS = 6  # of the time: memory in the first and in the last is compared


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--rate", type=float, default=0.0, help="requests a second; 0 for no limit")
    parser.add_argument("--kill-seconds", type=float, default=60.0, help="between two kills")
    add_priority(parser)
    options = parser.parse_args()
    come_first(options.nice)
    print(f"{os.cpu_count()} cores, on which {os.getloadavg()[0]:.1f} other processes run")
    with Server(None) as server:
        asyncio.run(endure(server, options))


class Tally:
    """What was sent, and what came back."""

    def __init__(self) -> None:
        self.statuses: dict[str, Counter[int]] = defaultdict(Counter)
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.health: list[float] = []
        self.refusals: dict[str, Counter[str]] = defaultdict(Counter)
        self.broken = self.kills = 0
        self.memory: dict[str, list[float]] = defaultdict(list)  # MB, a number for each minute

    def add(self, kind: str, status: int, content: bytes, seconds: float) -> None:
        """Count an answer."""
        self.statuses[kind][status] += 1
        if status < 300:
            self.seconds[kind].append(seconds)
        else:
            self.refusals[kind][json.loads(content)["code"]] += 1


async def endure(server: Server, options: argparse.Namespace) -> Tally:
    """Run all at once until the time is over, and print what came of it."""
    client = await Client.open(server.port)
    _, packed = await client.post("/api/v1/encode.nii.gz", {"text": "fear", "resolution_mm": 8})
    client.close()
    tally, stop = Tally(), time.monotonic() + 60 * options.minutes
    image = gzip.compress(gzip.decompress(packed))
    texts = abstracts()  # of all
    pause = options.connections / options.rate if options.rate else 0.0
    visitors = [visit(server, tally, stop, image, texts, pause) for _ in range(options.connections)]
    print(
        f"{'minute':>6} {'requests':>9} {'refused':>8} {'memory MB':>10} {'HTTP MB':>8} "
        f"{'worker MB':>10} {'artist MB':>10} "
        f"{'worst health ms':>16} {'load':>6}"
    )
    await asyncio.gather(
        watch_health(server, tally, stop),
        watch_memory(server, tally, stop),
        kill_workers(server, tally, stop, options.kill_seconds),
        *visitors,
    )
    report(tally)
    return tally


async def visit(
    server: Server, tally: Tally, stop: float, image: bytes, texts, pause: float
) -> None:
    """Send one request after the other on a connection that is opened again when it closes.

    With a pause they begin at least so many seconds apart, 1 ± 0.5 times that at random.
    """
    rng = random.Random(next(texts))
    client, begin = None, time.monotonic() - pause * rng.random()
    while time.monotonic() < stop:
        await asyncio.sleep(max(0.0, begin + pause * rng.uniform(0.5, 1.5) - time.monotonic()))
        kind = rng.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        begin = time.monotonic()
        try:
            client = client or await Client.open(server.port)
            status, content = await send(client, kind, next(texts), rng, image)
        except (OSError, asyncio.IncompleteReadError):
            tally.broken += client is not None and time.monotonic() < stop
            client = None
            continue
        tally.add(kind, status, content, time.monotonic() - begin)
        if status == 503:
            await asyncio.sleep(RETRY_SECONDS)
    if client:
        client.close()


async def send(
    client: Client, kind: str, text: str, rng: random.Random, image: bytes
) -> tuple[int, bytes]:
    """Send a request of a kind: status and content of its answer."""
    if kind == "upload":
        return await client.send("POST", "/api/v1/decode/map", image)
    if kind == "job":
        return await do_job(client, text)
    point = [rng.uniform(-40, 40), rng.uniform(-60, 20), rng.uniform(-10, 40)]
    path, query = {
        "encode": ("encode", {"text": text}),
        "decode": ("decode", {"points": [point]}),
        "map": ("encode.nii.gz", {"text": text}),
        "difference": ("difference", {"text": text, "other": "speech perception"}),
        "figure": ("encode.png", {"text": text}),
        "report": ("encode.html", {"text": text}),
    }[kind]
    return await client.post(f"/api/v1/{path}", query)


async def do_job(client: Client, text: str) -> tuple[int, bytes]:
    """Start a batch, look at it a few times, and drop it."""
    status, content = await client.post("/api/v1/jobs/batch", {"texts": [text] * 30})
    if status != 202:  # too many jobs: another way to say busy
        return 503 if status == 429 else status, content
    place = f"/api/v1/jobs/{json.loads(content)['id']}"
    for _ in range(5):
        await client.get(place)
        await asyncio.sleep(RETRY_SECONDS)
    await client.send("DELETE", place)
    return status, content


async def watch_health(server: Server, tally: Tally, stop: float) -> None:
    while time.monotonic() < stop:
        begin = time.monotonic()
        client = await Client.open(server.port)  # a new one: that it is taken counts too
        status, _ = await client.get("/api/v1/health")
        client.close()
        tally.health.append(time.monotonic() - begin)
        tally.statuses["health"][status] += 1
        await asyncio.sleep(HEALTH_SECONDS)


async def watch_memory(server: Server, tally: Tally, stop: float) -> None:
    """Print memory and health each minute."""
    seen = 0
    for minute in itertools.count():
        looks = []
        for _ in range(LOOKS if minute else 1):
            looks.append(await look(server))
            await asyncio.sleep(min(LOOK_SECONDS, max(0.0, stop - time.monotonic())))
        most = {name: max(each[name] for each in looks) for name in looks[0]}
        for name, megabytes in most.items():
            tally.memory[name].append(megabytes)
        total = sum(sum(each.values()) for name, each in tally.statuses.items() if name != "health")
        refused = sum(sum(each.values()) for each in tally.refusals.values())
        worst = max(tally.health[seen:], default=0)
        seen = len(tally.health)
        print(
            f"{minute:>6} {total:>9,} {refused:>8,} {most['all']:>10.0f} {most['HTTP']:>8.0f} "
            f"{most['worker']:>10.0f} {most['artist']:>10.0f} "
            f"{worst * 1e3:>16.0f} {os.getloadavg()[0]:>6.1f}",
            flush=True,
        )
        if time.monotonic() >= stop:
            return


async def look(server: Server) -> dict[str, float]:
    """Tell the memory of all processes, of the one that handles HTTP, of workers and artist."""
    client = await Client.open(server.port)
    status, content = await client.get("/api/v1/ready")
    client.close()
    about = json.loads(content) if status == 200 else {}
    workers = [state["memory_mb"] or 0 for state in about.get("workers", [])]
    return {
        "all": await asyncio.to_thread(server.memory_mb),  # not to hold up what is timed
        "HTTP": await asyncio.to_thread(server.memory_mb, 1),
        "worker": max(workers, default=0),
        "artist": about.get("artist", {}).get("memory_mb") or 0,
    }


async def kill_workers(server: Server, tally: Tally, stop: float, seconds: float) -> None:
    """Kill a process with a model now and then, whatever it does."""
    rng = random.Random(0)
    while time.monotonic() + seconds < stop:
        await asyncio.sleep(seconds)
        children = server.processes()[1:]
        workers = [each for each in children if b"spawn_main" in command(each)]
        if workers:
            os.kill(int(rng.choice(workers).name), signal.SIGKILL)
            tally.kills += 1


def command(process: Path) -> bytes:
    return (process / "cmdline").read_bytes()


def report(tally: Tally) -> None:
    print(f"\n{'kind':<11} {'requests':>9} {'p50 ms':>8} {'p95 ms':>8} statuses")
    for kind, statuses in sorted(tally.statuses.items()):
        times = tally.health if kind == "health" else tally.seconds[kind]
        marks = [percentile(times, share) * 1e3 if times else 0 for share in (0.5, 0.95)]
        said = ", ".join(f"{status}: {count:,}" for status, count in sorted(statuses.items()))
        said += "".join(f"; {count:,} {code}" for code, count in tally.refusals[kind].items())
        print(f"{kind:<11} {sum(statuses.values()):>9,} {marks[0]:>8.0f} {marks[1]:>8.0f} {said}")
    others = {s for statuses in tally.statuses.values() for s in statuses} - ALLOWED
    late = sum(seconds > 0.2 for seconds in tally.health)
    print(
        f"{tally.kills} workers killed; connections that broke: {tally.broken}; "
        f"statuses but 200, 202, 503: {sorted(others) or 'none'}\n"
        f"health: median {statistics.median(tally.health) * 1e3:.0f} ms, "
        f"worst {max(tally.health) * 1e3:.0f} ms, {late} of {len(tally.health):,} over 200 ms\n"
        f"largest worker: {max(tally.memory['worker']):.0f} MB (aim: {WORKER_MB})"
    )
    for name, minutes in tally.memory.items():
        part = max(1, len(minutes) // PARTS)
        first, last = minutes[1 : part + 1] or minutes, minutes[-part:]
        print(
            f"most memory of a minute, {name}: {statistics.median(first):.0f} MB at the start, "
            f"{statistics.median(last):.0f} MB at the end (medians of {part} minutes)"
        )


if __name__ == "__main__":
    main()
