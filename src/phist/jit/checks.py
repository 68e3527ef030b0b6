"""Whether compiled code checks every index against its bound: for tests, since a slip is silent otherwise."""

import os

CHECKS_BOUNDS = os.environ.get("PHIST_CHECK_BOUNDS", "0") not in ("", "0")
