"""Load on ``neurowhere serve``, over the loopback: throughput, waiting times, memory, health.

Starts a server with the shipped model, sends it abstracts that all differ, and prints

- encodes a second and waiting times at some numbers of connections (aim: at least 100 a second, and
  95 % within 250 ms at 16 connections, on 2 cores, those of this client among them);
- the same for places and images to decode, over one connection;
- the memory of the server along many requests (aim: flat);
- how long health takes to answer while more requests come than the queue holds (aim: < 200 ms).

    python benchmarks/serve_load.py                       # all, some minutes
    python benchmarks/serve_load.py --requests 2000       # shorter
    setsid -w python benchmarks/serve_load.py --nice -10  # before other work; needs root
"""

import argparse
import asyncio
import itertools
import json
import os
import random
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

SENTENCES = (
    "The neural basis of {0} was studied with functional magnetic resonance imaging in {1} adults.",
    "Contrasting {0} with {2} elicited bilateral activation in the {3} and the {4}.",
    "No activation was observed in the {5}.",
    "Patients with left {4} lesions performed worse on {2} than {1} matched controls.",
    "Activity in the {3} correlated with {0} scores and with reduced connectivity to the {5}.",
    "These results suggest that {0} and {2} rely on distinct networks of the human brain.",
    "Whole-brain analyses were thresholded at p < 0.05, corrected for multiple comparisons.",
)
TASKS = "fear,reading,pain,reward,working memory,attention,speech,navigation,imagery,emotion"
PLACES = (
    "amygdala,insula,hippocampus,thalamus,putamen,precuneus,fusiform gyrus,cerebellum,"
    "orbitofrontal cortex,anterior cingulate cortex,superior temporal gyrus,visual cortex"
)

RETRY_SECONDS = 0.2

Ask = Callable[["Client", str], Awaitable[int]]  # sends a request made of a text: its status


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", help="folder; by default the shipped model")
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 16, 64, 200])
    parser.add_argument("--requests", type=int, default=20_000, help="for the memory")
    parser.add_argument("--seconds", type=float, default=10.0, help="of each other measurement")
    add_priority(parser)
    options = parser.parse_args()
    come_first(options.nice)
    print(f"{os.cpu_count()} cores, on which {os.getloadavg()[0]:.1f} other processes run")
    with Server(options.model) as server:
        asyncio.run(measure(server, options))


def add_priority(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--nice", type=int, default=0, help="priority; below 0 needs root")


def come_first(nice: int) -> None:
    """Set the priority of this process, its session and what they start.

    Linux shares its cores among sessions first: within one, its processes have priorities.
    """
    if nice:
        os.setpriority(os.PRIO_PROCESS, 0, nice)
        with suppress(OSError):  # a kernel without groups
            Path("/proc/self/autogroup").write_text(str(nice))


async def measure(server: "Server", options: argparse.Namespace) -> None:
    await run(server, 2, seconds=2)  # warm
    print(
        f"{'what':<14} {'connections':>11} {'a second':>9} {'p50 ms':>8} {'p95 ms':>8} "
        f"{'p99 ms':>8} {'server CPU ms':>14} {'refused':>8}"
    )
    for connections in options.connections:
        await measure_speed(server, "encode", encode_text, connections, options.seconds)
    client = await Client.open(server.port)
    _, packed = await client.post("/api/v1/encode.nii.gz", {"text": "fear", "resolution_mm": 2})
    client.close()

    async def decode_image(client: Client, text: str) -> int:
        return (await client.send("POST", "/api/v1/decode/map", packed))[0]

    await measure_speed(server, "decode a place", decode_place, 1, options.seconds)
    await measure_speed(server, "decode 2 mm", decode_image, 1, options.seconds)
    await measure_health(server, options.seconds)
    await measure_memory(server, options.requests)


async def measure_speed(
    server: "Server", words: str, ask: Ask, connections: int, seconds: float
) -> None:
    """Print a line of the table."""
    before, begin = server.cpu_seconds(), time.perf_counter()
    statuses: list[int] = []
    times = await run(server, connections, ask=ask, seconds=seconds, statuses=statuses)
    elapsed = time.perf_counter() - begin
    cpu = (server.cpu_seconds() - before) / len(times)
    marks = [percentile(times, share) * 1e3 for share in (0.5, 0.95, 0.99)]
    print(
        f"{words:<14} {connections:>11} {len(times) / elapsed:>9.0f} "
        + " ".join(f"{mark:>8.1f}" for mark in marks)
        + f" {cpu * 1e3:>14.1f} {statuses.count(503):>8}",
        flush=True,
    )


async def encode_text(client: "Client", text: str) -> int:
    return (await client.post("/api/v1/encode", {"text": text}))[0]


async def decode_place(client: "Client", text: str) -> int:
    rng = random.Random(text)
    point = [rng.uniform(-40, 40), rng.uniform(-60, 20), rng.uniform(-10, 40)]
    return (await client.post("/api/v1/decode", {"points": [point]}))[0]


async def measure_health(server: "Server", seconds: float) -> None:
    """Ask for health while 128 connections send more than the queue holds."""
    stop = time.perf_counter() + seconds
    load_statuses: list[int] = []
    load = asyncio.create_task(run(server, 128, seconds=seconds, statuses=load_statuses))
    times = []
    client = await Client.open(server.port)
    while time.perf_counter() < stop:
        begin = time.perf_counter()
        status, _ = await client.get("/api/v1/health")
        assert status == 200
        times.append(time.perf_counter() - begin)
        await asyncio.sleep(0.05)
    await load
    refused = load_statuses.count(503)
    print(
        f"health while overloaded, {len(times)} times ({refused:,} requests were refused): "
        f"median {statistics.median(times) * 1e3:.0f} ms, worst {max(times) * 1e3:.0f} ms"
    )


async def measure_memory(server: "Server", n_requests: int) -> None:
    """Print the memory of the server at the quarters of a long run."""
    print(f"{'requests':>11} {'memory MB':>10}")
    for quarter in range(5):
        print(f"{quarter * n_requests // 4:>11,} {server.memory_mb():>10.0f}")
        if quarter < 4:
            await run(server, 16, requests=n_requests // 4)


async def run(
    server: "Server",
    connections: int,
    *,
    ask: Ask = encode_text,
    seconds: float = 1e9,
    requests: int | None = None,
    statuses: list[int] | None = None,
) -> list[float]:
    """Send requests over so many connections, each one at a time: the times of successes.

    Each is made of an abstract. What is not a success is an error, unless a list of statuses is
    given to hold it. One that was refused waits a little, as the server asks for.
    """
    stop = time.perf_counter() + seconds
    texts = itertools.islice(abstracts(), requests)
    times: list[float] = []

    async def work() -> None:
        client = await Client.open(server.port)
        for text in texts:
            begin = time.perf_counter()
            if begin > stop:
                break
            status = await ask(client, text)
            if statuses is not None:
                statuses.append(status)
            elif status != 200:
                raise RuntimeError(f"status {status}")
            if status == 200:
                times.append(time.perf_counter() - begin)
            else:
                await asyncio.sleep(RETRY_SECONDS)
        client.close()

    await asyncio.gather(*(work() for _ in range(connections)))
    return times


class Client:
    """The least HTTP that keeps a connection open, so that it takes little of the cores."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    async def open(cls, port: int) -> "Client":
        """Connect."""
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def get(self, path: str) -> tuple[int, bytes]:
        """Ask for something: status and content."""
        return await self.send("GET", path)

    async def post(self, path: str, query: dict[str, object]) -> tuple[int, bytes]:
        """Send a query: status and content."""
        return await self.send("POST", path, json.dumps(query).encode())

    async def send(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        """Send a request: status and content."""
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        return await self._ask(head.encode() + body)

    async def _ask(self, request: bytes) -> tuple[int, bytes]:
        self.writer.write(request)
        head = await self.reader.readuntil(b"\r\n\r\n")
        status = int(head.split(b" ", 2)[1])
        found = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
        length = int(found[1]) if found else 0  # no content
        return status, await self.reader.readexactly(length)

    def close(self) -> None:
        """Hang up."""
        self.writer.close()


class Server:
    """The server as a process."""

    def __init__(self, model: str | None) -> None:
        command = [sys.executable, "-c", "from neurowhere.cli import main; main()", "serve"]
        command += ["--port", "0", *(["--model", model] if model else [])]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.port = int(re.search(r":(\d+)", self.process.stdout.readline())[1])

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *exception: object) -> None:
        self.process.terminate()
        self.process.communicate()

    def processes(self) -> list[Path]:
        """Tell its own process and those of its workers."""
        own = Path(f"/proc/{self.process.pid}")
        threads = (own / "task").glob("*/children")  # whichever thread started them
        children = [child for thread in threads for child in thread.read_text().split()]
        return [own, *(Path(f"/proc/{child}") for child in children)]

    def memory_mb(self, first: int | None = None) -> float:
        """Memory that they, or the first of them, hold; what they share is counted once."""
        total = 0
        for process in self.processes()[:first]:
            with suppress(OSError):  # it may have ended
                roll = (process / "smaps_rollup").read_text()
                total += int((re.search(r"Pss:\s+(\d+)", roll) or [0, 0])[1])
        return total / 1024

    def cpu_seconds(self) -> float:
        """Time of the cores that they have used."""
        stats = [(process / "stat").read_text() for process in self.processes()]
        fields = [stat.rpartition(")")[2].split() for stat in stats]
        return sum(int(field[11]) + int(field[12]) for field in fields) / 100


def abstracts():
    """Abstracts of about 1,200 characters that all differ."""
    rng = random.Random(0)
    while True:
        words = [*rng.sample(TASKS.split(","), 2), *rng.sample(PLACES.split(","), 3)]
        fields = [words[0], rng.randrange(10, 200), *words[1:]]
        yield " ".join(rng.choice(SENTENCES).format(*fields) for _ in range(13))


def percentile(times: list[float], share: float) -> float:
    return sorted(times)[int(share * (len(times) - 1))]


if __name__ == "__main__":
    main()
