"""Inputs that are mishandled on purpose, to see that the harness notices."""

import os
import signal


def _raises():
    raise KeyError("x")


def _hangs():
    while True:
        sum(range(10_000))


def _eats_memory():
    bytearray(8 << 30)


def _crashes():
    os.kill(os.getpid(), signal.SIGSEGV)


def _exits():
    os._exit(3)


def _case(call):
    return lambda folder: call


FAULTY = {
    "raises": _case(_raises),
    "hangs": _case(_hangs),
    "eats memory": _case(_eats_memory),
    "crashes": _case(_crashes),
    "exits": _case(_exits),
}
