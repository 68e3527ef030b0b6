"""Values from users and files: of the right kind and in range, or a `ConfigError` that names the setting."""

import math
from numbers import Integral, Real

from phist.errors import ConfigError, shown


def whole_number(name: str, value: object, least: int, most: int | None = None) -> int:
    """``value`` as an int; no truth value or fraction passes for one.

    >>> whole_number("bins", 8, least=1)
    8
    """
    number = None if isinstance(value, bool) or not isinstance(value, Integral) else int(value)
    if number is None or number < least or (most is not None and number > most):
        upper = "" if most is None else f" and at most {most:,}"
        raise ConfigError(f"{name}={shown(value)} was given; a whole number of at least {least:,}{upper} is needed")
    return number


def finite_number(name: str, value: object, least: float, most: float = math.inf, *, above: bool = False) -> float:
    """``value`` itself, which may be whole, or as a float.

    Args:
        above: whether ``least`` itself is too little.
    """
    number = _as_float(value)
    if not (math.isfinite(number) and least <= number <= most) or (above and number == least):
        lower = f"above {least:g}" if above else f"of at least {least:g}"
        upper = "" if math.isinf(most) else f" and at most {most:g}"
        raise ConfigError(f"{name}={shown(value)} was given; a finite number {lower}{upper} is needed")
    return value if isinstance(value, int) else number


def truth_value(name: str, value: object) -> bool:
    """``value``, which is true or false and no number."""
    if type(value).__name__ not in ("bool", "bool_"):
        raise ConfigError(f"{name}={shown(value)} was given; True or False is needed")
    return bool(value)


def text_value(name: str, value: object) -> str:
    """``value``, which is a string."""
    if not isinstance(value, str):
        raise ConfigError(f"{name}={shown(value)} was given; a text is needed")
    return value


def _as_float(value: object) -> float:
    """NaN for what is no number, and for a whole number that no float can hold."""
    try:
        return math.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)
    except OverflowError:
        return math.nan
