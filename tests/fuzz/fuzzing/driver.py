"""Tries inputs in child processes, which may crash, hang or run out of memory, and counts what was mishandled.

Mishandled is: an exception that is no `PhistError`, a message too long to read, a crash, more time or memory than an input
of its size may take, or a graph set that breaks its own promises.
"""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
PATHS = (HERE.parent, HERE.parents[1] / "helpers")
BATCH = 5000  # inputs that one process tries
SECONDS = 5  # of processor time for one input; reading any of them takes milliseconds


@dataclass
class Account:
    """What was tried and what was mishandled, by format."""

    tried: Counter = field(default_factory=Counter)
    faults: list = field(default_factory=list)  # (format, seed, what)

    def report(self):
        mishandled = Counter(format for format, _, _ in self.faults)
        width = max(map(len, self.tried), default=0)
        lines = [f"{name:<{width}}  {count:>7,} tried  {mishandled[name]:>5,} mishandled" for name, count in self.tried.items()]
        return "\n".join([*lines, f"{'all':<{width}}  {self.tried.total():>7,} tried  {len(self.faults):>5,} mishandled"])


def try_inputs(inputs, seconds=SECONDS, tell=lambda account: None):
    """Try every (format, seed); after a crash the rest goes on in a new process, and after each batch ``tell`` has the account."""
    account = Account()
    inputs = list(inputs)
    for start in range(0, len(inputs), BATCH):
        left = inputs[start : start + BATCH]
        while left:
            left = left[_try_batch(left, account, seconds) :]
        tell(account)
    return account


def _try_batch(inputs, account, seconds):
    """Try inputs in one process; how many of them are done."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join([*map(str, PATHS), *sys.path])}
    command = [sys.executable, "-m", "fuzzing.worker"]
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        process.stdin.write(json.dumps([inputs, seconds]) + "\n")
        process.stdin.close()
        done, at = 0, None
        for line in process.stdout:
            content = json.loads(line)
            if "fault" in content:
                account.faults.append((*at, content["fault"]))
                continue
            at = content["at"]
            if at is None:
                break
            done += 1
            account.tried[at[0]] += 1
    if at is not None:
        account.faults.append((*at, _ending(process.returncode)))
    elif not done:
        raise RuntimeError(f"the process that tries inputs ended with {process.returncode} before the first")
    return done


def _ending(code):
    if code == -signal.SIGPROF:
        return "took too long"
    return f"crashed: {signal.Signals(-code).name}" if code < 0 else f"ended the process with {code}"
