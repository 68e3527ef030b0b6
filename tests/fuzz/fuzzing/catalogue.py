"""Everything that can be tried: random inputs by format, and crafted ones by name."""

from fuzzing import crafted_uses as crafted_uses  # which adds its cases
from fuzzing.crafted import CRAFTED as CRAFTED
from fuzzing.graph_files import GRAPH_FORMATS
from fuzzing.memory import fuzz_memory
from fuzzing.models import MODEL_FORMATS
from fuzzing.requests import REQUEST_FORMATS
from fuzzing.settings import SETTING_FORMATS
from fuzzing.streams import STREAM_FORMATS
from fuzzing.studies import STUDY_FORMATS
from fuzzing.uses import USE_FORMATS

FORMATS = {
    **GRAPH_FORMATS,
    "memory": fuzz_memory,
    **MODEL_FORMATS,
    **STREAM_FORMATS,
    **USE_FORMATS,
    **STUDY_FORMATS,
    **SETTING_FORMATS,
    **REQUEST_FORMATS,
}
SLOW = {
    "model": 4,
    "checkpoint": 40,
    "records": 4,
    "stream": 10,
    "gathered": 2,
    "batch": 2,
    "explain": 4,
    "settings": 2,
    "request": 2,
}  # times that an input takes as long as one of graphs


def inputs(count, seed=0, formats=tuple(FORMATS)):
    """About ``count`` inputs, spread over the formats; what takes long gets fewer."""
    shares = {name: 1 / SLOW.get(name, 1) for name in formats}
    total = sum(shares.values())
    return [(name, seed + k) for name in formats for k in range(max(1, round(count * shares[name] / total)))]
