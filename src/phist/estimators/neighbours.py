"""Neighbours: the training graphs that a model finds most similar to others."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from phist.errors import ModelFileError

DIMENSIONS = 32  # that distances are measured in


@dataclass(frozen=True)
class Neighbours:
    """Embeddings of the training graphs, standardised and reduced to their principal components.

    Attributes:
        centre, scale: (embedding): what standardises them.
        axes: (dimensions, embedding).
        rows: (graphs, dimensions).
    """

    centre: NDArray[np.float32]
    scale: NDArray[np.float32]
    axes: NDArray[np.float32]
    rows: NDArray[np.float32]

    @classmethod
    def of(cls, embeddings: NDArray[np.float32], seed: int) -> Self:
        """Remember these graphs."""
        from sklearn.decomposition import PCA

        centre, spread = embeddings.mean(0), embeddings.std(0)
        scale = np.where(spread > 0, spread, np.float32(1))
        rows = (embeddings - centre) / scale
        dimensions = min(DIMENSIONS, *rows.shape)
        with np.errstate(invalid="ignore"):  # shares of a variance of zero, where all graphs look the same; nobody asks for them
            axes = PCA(dimensions, svd_solver="randomized", random_state=seed).fit(rows).components_.astype(np.float32)
        return cls(centre, scale, axes, (rows @ axes.T).astype(np.float32))

    def nearest(self, embeddings: NDArray[np.float32], k: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Distances to the nearest remembered graphs, and their positions: (graphs, k) each, the nearest first."""
        from sklearn.neighbors import NearestNeighbors

        rows = ((embeddings - self.centre) / self.scale) @ self.axes.T
        distances, positions = NearestNeighbors(n_neighbors=min(k, len(self.rows))).fit(self.rows).kneighbors(rows)
        return distances, positions.astype(np.int64)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return dict(vars(self))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], n_embedding: int, n_graphs: int) -> Self:
        """The inverse of `to_arrays`; anything else is a `ModelFileError`."""
        dimensions = len(arrays["axes"]) if "axes" in arrays and arrays["axes"].ndim == 2 else 0
        shapes = {
            "centre": (n_embedding,),
            "scale": (n_embedding,),
            "axes": (dimensions, n_embedding),
            "rows": (n_graphs, dimensions),
        }
        for name, shape in shapes.items():
            found = arrays.get(name)
            proper = found is not None and found.dtype == np.float32 and found.shape == shape and np.isfinite(found).all()
            if not proper or not dimensions or (name == "scale" and (arrays[name] <= 0).any()):
                raise ModelFileError(f"the model's neighbours lack proper {name!r} of shape {shape}; save the model again")
        return cls(**{name: arrays[name] for name in shapes})
