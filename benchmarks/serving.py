"""How many requests a second does `phist serve` answer, and how long does one wait? On this machine, over loopback.

Fits a model to MUTAG unless one is given, starts the server as a process of its own, and asks it about one graph in each request,
from 1, 8 and 32 clients at a time. Prints a table in Markdown.

    python benchmarks/serving.py [MODEL] [--seconds 10]
"""

import argparse
import asyncio
import re
import subprocess
import sys
import tempfile
import time
from itertools import cycle
from pathlib import Path
from statistics import median, quantiles

import httpx
import psutil

from phist import load_dataset

CLIENTS = (1, 8, 32)


async def load(address, verb, bodies, clients, seconds):
    """The time of every request that was answered within ``seconds``."""
    end, taken, ours = time.monotonic() + seconds, [], cycle(bodies)

    async def ask_on(session):
        while time.monotonic() < end:
            begin = time.monotonic()
            (await session.post(f"{address}/{verb}", json=next(ours))).raise_for_status()
            taken.append(time.monotonic() - begin)

    async with httpx.AsyncClient(timeout=120, limits=httpx.Limits(max_connections=clients)) as session:
        await asyncio.gather(*(ask_on(session) for _ in range(clients)))
    return taken


def row(server, address, verb, bodies, clients, seconds):
    """Ask for some seconds; the processor time hardly depends on what else the machine does, the others do."""
    begin = processor_time(server)
    taken = asyncio.run(load(address, verb, bodies, clients, seconds))
    each = 1e3 * (processor_time(server) - begin) / len(taken)
    slowest = quantiles(taken, n=20)[-1] if len(taken) > 1 else taken[0]
    return f"| {verb} | {clients} | {len(taken) / seconds:.1f} | {1e3 * median(taken):.0f} | {1e3 * slowest:.0f} | {each:.0f} |"


def processor_time(server):
    times = psutil.Process(server.pid).cpu_times()
    return times.user + times.system


def measure(server, address, seconds):
    graphs = load_dataset("MUTAG")
    bodies = [{"graphs": [{"n_nodes": one.n_nodes, "edges": one.edges().tolist()}]} for one in graphs]
    print("| request | clients | requests a second | median, ms | 95 %, ms | processor time each, ms |\n|---|---|---|---|---|---|")
    for verb, crowds in (("predict", CLIENTS), ("embed", CLIENTS), ("explain", (1,))):
        for clients in crowds:
            print(row(server, address, verb, bodies, clients, seconds), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", type=Path)
    parser.add_argument("--seconds", type=float, default=10, help="for each row")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = given.model or Path(folder) / "mutag"
        if given.model is None:
            subprocess.run([sys.executable, "-m", "phist", "fit", "MUTAG", "--out", model, "--quiet"], check=True)
        command = [sys.executable, "-m", "phist", "serve", str(model), "--port", "0", "--threads", "1"]
        server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        try:
            measure(server, re.search(r"http://[\d.:]+", server.stderr.readline())[0], given.seconds)
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
