"""Histograms of roots side by side, forward and backward.

Roots of a large graph come row by row: the responses of one row to all of them are one after the other, and so they are one wide
row as the histogram takes it. Rows are taken some at a time, so that what is read for one loop is in the cache for the next.
"""

from typing import Any, NamedTuple

from phist.engine.arena import lower_tops, take_matrix, tops_of
from phist.engine.balls import Chunk, beside_from
from phist.engine.bins import Rows, add_to_histogram, add_to_histogram_backward, squash_rows
from phist.engine.dense import fill
from phist.engine.jit import ZERO, inner
from phist.engine.simd import LANES, load, single, store
from phist.engine.views import matrix, rows_of, stretch, value_of

ROWS_AT_ONCE = 256  # of four roots and 32 channels: 128 KB


class Beside(NamedTuple):
    """Scratch for roots side by side; nothing where they come one after the other."""

    whitening: Any  # (2, roots · width): that of all roots, once for each
    squashed: Any  # (rows at once, roots · width)
    histograms: Any  # (2 · bins, roots · width): or their gradients
    sums: Any  # (2, roots · width)


@inner
def take_beside(shape: Any, chunk: Chunk, arena: Any) -> Beside:
    """Space for it."""
    width = chunk.beside * shape.widths[-1] if chunk.beside > 1 else 0
    return Beside(
        take_matrix(arena, 2, width),
        take_matrix(arena, ROWS_AT_ONCE, width),
        take_matrix(arena, 2 * shape.bins.number, width),
        take_matrix(arena, 2, width),
    )


@inner
def _narrowed(scratch: Beside, width: int) -> Beside:
    """For roots that together are so wide."""
    return Beside(
        matrix(scratch.whitening, 0, 2, width),
        matrix(scratch.squashed, 0, ROWS_AT_ONCE, width),
        matrix(scratch.histograms, 0, scratch.histograms.n, width),
        matrix(scratch.sums, 0, 2, width),
    )


@inner
def _copy(source: Any, from_column: int, target: Any, to_column: int) -> None:
    """The columns of the narrower one."""
    for row in range(min(source.n, target.n)):
        for block in range(0, min(source.width, target.width), LANES):
            store(target, row, to_column + block, load(source, row, from_column + block))


@inner
def _begin(scratch: Beside, whitening: Any, beside: int) -> Beside:
    """For so many roots, with the whitening of all."""
    own = _narrowed(scratch, beside * whitening.width)
    for column in range(0, own.whitening.width, whitening.width):
        _copy(whitening, ZERO, own.whitening, column)
    return own


@inner
def _rows_from(chunk: Chunk, y: Any, start: int, own: Beside) -> Rows:
    """The next rows of a wide matrix, as the histogram takes them."""
    n = min(ROWS_AT_ONCE, y.n - start)
    return Rows(rows_of(y, start, n), own.whitening, rows_of(own.squashed, 0, n), stretch(chunk.row_multiplicity, start, n))


@inner
def embed_beside(shape: Any, chunk: Chunk, pairs: Rows, embeddings: Any, arena: Any) -> None:
    """Histograms of the chunk's roots, (roots, bins · width)."""
    bins, tops, y, width, n_rows = value_of(shape.bins), tops_of(arena), pairs.y, pairs.y.width, chunk.n_rows
    scratch, root = take_beside(shape, chunk, arena), ZERO
    while root < chunk.n_roots:
        beside = beside_from(chunk, root)
        own, wide = _begin(scratch, pairs.whitening, beside), matrix(y, root * n_rows * width, n_rows, beside * width)
        histograms = rows_of(own.histograms, 0, bins.number)
        fill(histograms, single(0.0))
        for start in range(0, n_rows, ROWS_AT_ONCE):
            rows = _rows_from(chunk, wide, start, own)
            squash_rows(bins, rows)
            add_to_histogram(bins, rows, histograms)
        for number in range(beside):
            target = matrix(embeddings, (root + number) * embeddings.width, bins.number, width)
            _copy(histograms, number * width, target, ZERO)
        root += beside
    lower_tops(arena, tops)


@inner
def embed_beside_backward(shape: Any, chunk: Chunk, pairs: Rows, grad_histograms: Any, grad_y: Any, sums: Any, arena: Any) -> None:
    """Gradients of whitened responses from those of the histograms, (roots · 2 · bins, width); adds to ``sums``, (2 · width)."""
    bins, tops, y, width, n_rows = value_of(shape.bins), tops_of(arena), pairs.y, pairs.y.width, chunk.n_rows
    scratch, root, size = take_beside(shape, chunk, arena), ZERO, 2 * bins.number
    while root < chunk.n_roots:
        beside = beside_from(chunk, root)
        own, wide = _begin(scratch, pairs.whitening, beside), matrix(y, root * n_rows * width, n_rows, beside * width)
        grad_wide = matrix(grad_y, root * n_rows * width, n_rows, beside * width)
        for number in range(beside):
            _copy(rows_of(grad_histograms, (root + number) * size, size), ZERO, own.histograms, number * width)
        for start in range(0, n_rows, ROWS_AT_ONCE):
            rows = _rows_from(chunk, wide, start, own)
            squash_rows(bins, rows)
            fill(own.sums, single(0.0))
            add_to_histogram_backward(bins, rows, own.histograms, rows_of(grad_wide, start, rows.y.n), own.sums)
            _add_sums(own.sums, width, sums)
        root += beside
    lower_tops(arena, tops)


@inner
def _add_sums(own: Any, width: int, sums: Any) -> None:
    """Those of all roots, in double precision."""
    for row in range(2):
        for column in range(own.width):
            sums[row * width + column % width] += own[row * own.width + column]
