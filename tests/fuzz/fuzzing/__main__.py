"""``python -m fuzzing [COUNT] [--seed S] [--format NAME] [--one SEED]``: try inputs and count what is mishandled."""

import argparse
import sys
from functools import partial

from fuzzing.catalogue import CRAFTED, FORMATS, inputs
from fuzzing.driver import try_inputs


def main():
    parser = argparse.ArgumentParser(prog="fuzzing", description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=3000)
    parser.add_argument("--seed", type=int, default=0, help="the first seed of every format")
    parser.add_argument("--format", action="append", choices=[*FORMATS, "crafted"], help="only this one; may be repeated")
    parser.add_argument("--shown", type=int, default=40, help="mishandled inputs to show")
    options = parser.parse_args()
    formats = [name for name in options.format or FORMATS if name != "crafted"]
    chosen = inputs(options.count, options.seed, formats) if formats else []
    if not options.format or "crafted" in options.format:
        chosen += [("crafted", name) for name in CRAFTED]
    account = try_inputs(chosen, tell=partial(tell, most=options.shown))
    return 1 if account.faults else 0


def tell(account, most):
    """What came out so far, so that a run that is stopped has not been in vain."""
    for format, seed, what in account.faults[:most]:
        print(f"{format} {seed}: {what}")
    print(account.report(), flush=True)


if __name__ == "__main__":
    sys.exit(main())
