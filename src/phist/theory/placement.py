"""Where φ sends the cells that matter: images of count entries in the lattice of the projective histogram.

Every function takes the counts of t multisets in the kept cells and, last, in all others together, and returns the image of
each of these columns. `phist.theory.capacity` says up to which t they work, and why.
"""

import numpy as np

from phist.errors import ConfigError
from phist.theory.geometry import Floats, Ints
from phist.theory.labels import DISCARDED, separating_labels
from phist.theory.projective import bin_center, star_cells

OUTSIDE = 2.0  # in no bin of [-1, 1]
MOST_DRAWS = 100_000
LISTED = 1 << 20  # places that are numbered to draw from; of more, coordinates are drawn


def place_on_star(counts: Ints, dim: int, bins: int, confined: bool) -> Floats:
    """A cell of the star for each column; the rest goes to the star's centre, or out of the cube."""
    kept, star = counts.shape[1] - 1, bin_center(star_cells(dim, bins), bins)
    if confined:
        return np.concatenate([star[1 : kept + 1], star[:1]])
    return np.concatenate([star[:kept], np.full((1, dim), OUTSIDE)])


def place_with_corner(counts: Ints, dim: int, bins: int) -> Floats:
    """As many columns as the star has cells go there; of one more, two share a cell, or one goes to a corner beside the star."""
    star, columns = star_cells(dim, bins), counts.shape[1]
    if columns <= len(star):
        return bin_center(star[:columns], bins)
    merge = mergeable_columns(counts)
    if merge is None:
        corner = np.full((1, dim), bins - 1)
        corner[0, :2] = 0
        return bin_center(np.concatenate([star, corner]), bins)
    first, second = merge
    places = np.arange(columns) - (np.arange(columns) > second)
    places[second] = first
    return bin_center(star[places], bins)


def mergeable_columns(counts: Ints) -> tuple[int, int] | None:
    """Two columns whose sum can replace them without any two different rows becoming equal; ``None`` if there are none.

    >>> mergeable_columns(np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]])) is None
    True
    >>> mergeable_columns(np.array([[1, 0, 0], [0, 1, 0], [0, 0, 2]]))
    (0, 2)
    """
    columns = counts.shape[1]
    first, second = np.triu_indices(len(counts), k=1)
    differences = counts[first] - counts[second]
    hidden = (np.count_nonzero(differences, axis=1) == 2) & (differences.sum(axis=1) == 0)
    blocked = np.zeros((columns, columns), bool)
    blocked[tuple(np.nonzero(differences[hidden])[1].reshape(-1, 2).T)] = True
    free = np.argwhere(np.triu(~blocked, k=1))
    return (int(free[0, 0]), int(free[0, 1])) if len(free) else None


def place_in_coordinates(counts: Ints, dim: int, bins: int) -> Floats:
    """One bin of one coordinate for each column, its other coordinates outside; the rest is discarded."""
    kept = counts.shape[1] - 1
    coordinate, place = np.divmod(np.arange(kept), bins)
    images = np.full((kept + 1, dim), OUTSIDE)
    images[np.arange(kept), coordinate] = bin_center(place, bins)
    return images


def place_by_labels(counts: Ints, dim: int, bins: int, confined: bool) -> Floats:
    """Bins that columns share, by the lemma "labels"."""
    labels, _ = separating_labels(counts, dim, bins, discard=not confined)
    return _images(labels, bins)


def scatter(counts: Ints, dim: int, bins: int, confined: bool, seed: int = 0) -> Floats:
    """Distinct random places, drawn until the histograms of all different rows differ.

    Where φ is free, a place may be outside in some coordinates; the rest is discarded, and nothing else is altogether.
    """
    generator = np.random.default_rng(seed)
    different = len(np.unique(counts, axis=0))
    for _ in range(MOST_DRAWS):
        labels = _distinct_places(counts.shape[1], dim, bins, confined, generator)
        if len(np.unique(shown_counts(counts, labels, bins), axis=0)) == different:
            return _images(labels, bins)
    raise ConfigError(f"none of {MOST_DRAWS:,} random placements tells all multisets apart; pass another seed, or more bins")


def shown_counts(counts: Ints, labels: Ints, bins: int) -> Ints:
    """The histogram of every row, exactly: for each coordinate and bin the sum of the columns that carry the label."""
    carried = labels[:, :, None] == np.arange(bins)  # (columns, dim, bins)
    shown: Ints = counts @ carried.reshape(len(labels), -1).astype(np.int64)
    return shown  # (rows, dim * bins)


def _distinct_places(columns: int, dim: int, bins: int, confined: bool, generator: np.random.Generator) -> Ints:
    """Labels (columns, dim), uniform among all that are distinct; where φ is free, the last are all `DISCARDED`."""
    places = bins if confined else bins + 1
    if dim * np.log2(places) <= np.log2(LISTED):
        drawn = generator.permutation(places**dim - (not confined))[: columns - (not confined)]
        labels = np.stack(np.unravel_index(drawn + (not confined), (places,) * dim), axis=1)
    else:
        labels = np.empty((0, dim), np.int64)
        while len(labels) < columns - (not confined):
            labels = np.concatenate([labels, generator.integers(places, size=(2 * columns, dim))])
            labels = labels[np.sort(np.unique(labels, axis=0, return_index=True)[1])]
            labels = labels[labels.any(axis=1)] if not confined else labels
        labels = labels[: columns - (not confined)]
    if confined:
        return labels
    return np.concatenate([labels - 1, np.full((1, dim), DISCARDED)])


def _images(labels: Ints, bins: int) -> Floats:
    images: Floats = np.where(labels == DISCARDED, OUTSIDE, bin_center(labels, bins))
    return images
