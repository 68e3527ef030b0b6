"""Arrays in few characters: quantised, put one after the other, compressed, and written as text."""

import base64
import gzip
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

ALIGNMENT = 8  # bytes: every array begins where any kind of number may
KINDS = {
    "u1": "Uint8Array", "u2": "Uint16Array", "u4": "Uint32Array", "i2": "Int16Array", "i4": "Int32Array", "f4": "Float32Array",
    "f8": "Float64Array",
}  # fmt: skip
MISSING = -32768  # of a quantised array: a number that was not computed


class Packer:
    """Collects arrays; what `add` and `quantise` return is written as JSON and says where the page finds each of them."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._length = 0

    def add(self, values: ArrayLike, kind: str) -> dict[str, Any]:
        """Numbers as they are; ``kind`` is one of `KINDS`."""
        content = np.ascontiguousarray(values, dtype=f"<{kind}").tobytes()
        place = {"type": KINDS[kind], "at": self._length, "length": len(content) // int(kind[1])}
        padding = -len(content) % ALIGNMENT
        self._parts.append(content + b"\0" * padding)
        self._length += len(content) + padding
        return place

    def whole(self, values: ArrayLike) -> dict[str, Any]:
        """Whole numbers from zero, in as few bytes as the largest takes."""
        array = np.asarray(values)
        largest = int(array.max(initial=0))
        return self.add(array, "u1" if largest < 1 << 8 else "u2" if largest < 1 << 16 else "u4")

    def quantise(self, values: ArrayLike) -> dict[str, Any]:
        """Numbers around zero to a 32,767th of the largest; NaN stays what was not computed."""
        array = np.asarray(values, dtype=np.float64)
        largest = float(np.abs(array[np.isfinite(array)]).max(initial=0.0))
        scale = largest / 32767 or 1.0
        steps = np.where(np.isfinite(array), np.round(np.nan_to_num(array) / scale), MISSING)
        return self.add(steps, "i2") | {"scale": scale}

    def text(self) -> str:
        """All arrays, compressed, as base64; the same arrays give the same text."""
        return base64.b64encode(gzip.compress(b"".join(self._parts), compresslevel=9, mtime=0)).decode()


def unpack(place: dict[str, Any], content: bytes) -> NDArray[Any]:
    """An array as the page reads it; for tests, and for reading a page with Python."""
    kind = next(kind for kind, name in KINDS.items() if name == place["type"])
    raw = np.frombuffer(content, f"<{kind}", place["length"], place["at"])
    if "scale" not in place:
        return raw
    return np.where(raw == MISSING, np.nan, raw * place["scale"])
