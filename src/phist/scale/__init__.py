"""Graphs by the million: streams into sharded Parquet, and functions for Ray, Dask and Spark (docs/scale.md)."""

from typing import TYPE_CHECKING, Any

__all__ = ["BatchFunction", "embed_batches", "predict_batches"]

if TYPE_CHECKING:
    from phist.scale.batches import BatchFunction as BatchFunction
    from phist.scale.batches import embed_batches as embed_batches
    from phist.scale.batches import predict_batches as predict_batches


def __getattr__(name: str) -> Any:
    """Import them on first use: the command line asks this package about files alone."""
    if name not in __all__:
        raise AttributeError(f"module 'phist.scale' has no attribute {name!r}")
    from phist.scale import batches

    return getattr(batches, name)
