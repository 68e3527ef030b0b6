r"""Why flat kernels are robust: the remark after the proposition on structured perturbations, as a check (Davis and Kahan).

Let I = [μ₁, μ₂) lie within I_p = [λ₁, λ₂), at a distance of at least g from the rest of the spectrum's range. The remark says
that if g ≫ ‖L - L̃‖₂, what is perturbed within I hardly leaves I_p:

.. math:: \sum_{\tilde\lambda_j \in I} \sum_{\lambda_i \notin I_p} (u_i^\top \tilde u_j)^2 \simeq 0, \qquad
    \|\Pi_{I_p} - \tilde\Pi_{I_p}\|_2 \simeq 0.

**The first holds.** As u_iᵀ(L̃ - L)ũ_j = (λ̃_j - λ_i) u_iᵀũ_j with |λ̃_j - λ_i| ≥ g, the theorem of Davis and Kahan gives
‖(I - Π_{I_p}) Π̃_I‖₂ ≤ ‖L - L̃‖₂ / g, and the sum is at most as many squares of it as there are λ̃_j in I.

**The second does not follow**: an eigenvalue near an edge of I_p may cross it, whatever g is, and the distance is 1
(`flatness_counterexample`). It holds if the perturbation acts on the range of Π_I alone, which leaves all other eigenspaces as
they are. In general it takes edges in gaps of both spectra: if no eigenvalue of L is within c of an inner edge of I_p, and
none of L̃ within c̃, then ‖Π_{I_p} - Π̃_{I_p}‖₂ ≤ ‖L - L̃‖₂ / (c + c̃), by the same theorem.
"""

import math
from dataclasses import dataclass

import numpy as np

from phist.errors import ConfigError
from phist.graphs.graph import Graph
from phist.theory.spectral import BOTTOM, TOP, Spectrum, laplacian_spectrum, normalized_laplacian, projector_distance
from phist.theory.toy import GREEN, toy_graph

Interval = tuple[float, float]
ROUNDING = 1e-8  # eigenvalues are rounded to ten digits


@dataclass(frozen=True, eq=False)
class FlatnessCheck:
    """How much of the perturbed eigenspace of ``inner`` leaves that of ``outer``, beside what bounds it."""

    graph: Graph
    perturbed: Graph
    inner: Interval  # I
    outer: Interval  # I_p
    gap: float  # g
    change: float  # ‖L - L̃‖₂
    leak: float  # ‖(I - Π_outer) Π̃_inner‖₂
    leak_squares: float  # the printed sum
    eigenvalues: int  # λ̃_j in I
    distance: float  # ‖Π_outer - Π̃_outer‖₂
    clearance: float  # c + c̃

    @property
    def leak_bound(self) -> float:
        """‖L - L̃‖₂ / g."""
        return self.change / self.gap if self.gap > 0 else math.inf

    @property
    def distance_bound(self) -> float:
        """‖L - L̃‖₂ / (c + c̃), and never more than 1."""
        return min(1.0, self.change / self.clearance) if self.clearance > 0 else 1.0

    def verify(self) -> bool:
        """Measure anew, from the two graphs and intervals alone: the figures are those, and no bound is exceeded."""
        anew = check_flatness(self.graph, self.perturbed, self.inner, self.outer)
        names = ("gap", "change", "leak", "leak_squares", "eigenvalues", "distance", "clearance")
        same = all(math.isclose(getattr(self, name), getattr(anew, name), abs_tol=ROUNDING) for name in names)
        most_squares = anew.eigenvalues * anew.leak_bound**2 if anew.eigenvalues else 0.0
        return (
            same
            and anew.leak <= anew.leak_bound + ROUNDING
            and anew.leak_squares <= most_squares + ROUNDING
            and anew.distance <= anew.distance_bound + ROUNDING
        )


def check_flatness(graph: Graph, perturbed: Graph, inner: Interval, outer: Interval) -> FlatnessCheck:
    """The remark for two graphs on the same nodes and two intervals of [0, 2], one within the other.

    >>> check = check_flatness(toy_graph(), toy_graph(GREEN, 0.1), inner=(0.0, 0.2), outer=(0.0, 1.0))
    >>> check.leak <= check.leak_bound, check.verify()
    (True, True)
    """
    if not BOTTOM <= outer[0] <= inner[0] <= inner[1] <= outer[1] <= TOP:
        raise ConfigError(
            f"inner={inner} and outer={outer} were given; [0, 2] must hold the outer interval, and that the inner one"
        )
    before, after = laplacian_spectrum(graph), laplacian_spectrum(perturbed)
    kept = before.eigenvectors(*outer)
    moved = after.eigenvectors(*inner)
    left = moved - kept @ (kept.T @ moved)  # (nodes, perturbed eigenvalues in I): what leaves I_p
    return FlatnessCheck(
        graph=graph,
        perturbed=perturbed,
        inner=inner,
        outer=outer,
        gap=_gap(inner, outer),
        change=float(np.linalg.norm(normalized_laplacian(graph) - normalized_laplacian(perturbed), ord=2)),
        leak=float(np.linalg.norm(left, ord=2)) if left.size else 0.0,
        leak_squares=float((left**2).sum()),
        eigenvalues=moved.shape[1],
        distance=projector_distance(before, after, *outer),
        clearance=_clearance(before, outer) + _clearance(after, outer),
    )


def flatness_counterexample(weight: float = 0.01) -> FlatnessCheck:
    """A gap much wider than the perturbation, and yet a distance of 1: the second eigenvalue crosses the edge of I_p."""
    before, after = toy_graph(), toy_graph(GREEN, weight)
    second, moved = (float(laplacian_spectrum(graph).values[1]) for graph in (before, after))
    edge = (second + moved) / 2
    return check_flatness(before, after, inner=(0.0, edge / 2), outer=(0.0, edge))


def _gap(inner: Interval, outer: Interval) -> float:
    """The margin of the inner interval; there is nothing beyond 0 and 2 to keep a distance from."""
    below = inner[0] - outer[0] if outer[0] > BOTTOM else math.inf
    above = outer[1] - inner[1] if outer[1] < TOP else math.inf
    return min(below, above)


def _clearance(spectrum: Spectrum, outer: Interval) -> float:
    edges = [edge for edge in outer if BOTTOM < edge < TOP]
    return min((float(np.abs(spectrum.values - edge).min()) for edge in edges), default=math.inf)
