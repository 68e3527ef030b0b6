"""How much an input may grow while it is read: a short file that claims to hold much is refused before memory is taken."""

from phist.errors import ConfigError, GraphInputError

ALWAYS = 1 << 28  # bytes that any input may take, however short it is
GROWTH = 256  # bytes read for each byte given; archives of the TU collection unpack to one to nine times their size
NODE = CELL = 64  # bytes that a node, or a cell of a table, takes in memory while it is read
ARC = 16  # bytes of an arc in memory


def most_bytes(given: int, max_bytes: int | None = None) -> int:
    """What an input of ``given`` bytes may take in memory: ``max_bytes`` where that is set."""
    return max(ALWAYS, GROWTH * given) if max_bytes is None else max_bytes


def check_max_bytes(max_bytes: int | None) -> None:
    """Raise a `ConfigError` unless the option is ``None`` or a positive whole number."""
    if max_bytes is not None and (type(max_bytes) is not int or max_bytes < 1):
        raise ConfigError("max_bytes must be a positive whole number of bytes, or None to judge by the size of the input")


def check_growth(needed: int, most: int, what: str) -> None:
    """Raise a `GraphInputError` where ``what`` is said to take more than it may."""
    if needed > most:
        raise GraphInputError(
            f"{what}, about {_size(needed)} in memory, where {_size(most)} are the most for an input of this size; "
            f"correct it, or pass max_bytes={needed} (--max-bytes {needed}) if it is meant"
        )


def _size(count: int) -> str:
    return f"{count / 1e9:,.1f} GB" if count >= 10**9 else f"{count / 1e6:,.0f} MB"
