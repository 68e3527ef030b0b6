"""Theorem 2.1: the number it computes, the packing behind it, and the function that refutes it."""

import math
from dataclasses import replace
from itertools import combinations, product

import networkx as nx
import numpy as np
import pytest

from phist.errors import ConfigError, GraphInputError
from phist.theory.bounds import counted_outputs, outputs_lower_bound, separated_points
from phist.theory.geometry import Ball, Box, log_ball_volume
from phist.theory.matching import delta_equal
from phist.theory.multiset import Multiset
from phist.theory.packing import make_packing
from phist.theory.prime_sum import PrimeSum, first_primes

DOMAINS = [Box.cube(1), Box.cube(2), Box((0.0, -1.0, 0.0), (1.0, 2.0, 0.5)), Ball(2), Ball(3, 0.8, 1.0), Ball(2, 1.0, math.inf)]


def test_volumes_of_unit_balls():
    assert math.exp(log_ball_volume(3, 2.0)) == pytest.approx(4 * math.pi / 3)
    assert math.exp(log_ball_volume(4, 1.0)) == pytest.approx(2**4 / math.factorial(4))
    assert math.exp(log_ball_volume(5, math.inf)) == pytest.approx(32)


def test_volume_of_a_ball_agrees_with_counting():
    ball, points = Ball(3, p=1.5), np.random.default_rng(0).uniform(-1, 1, (100_000, 3))
    assert 8 * ball.contains(points).mean() == pytest.approx(math.exp(ball.log_volume()), rel=0.02)


@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_bound_for_the_cube_is_a_power(dimension):
    assert outputs_lower_bound(Box.cube(dimension), 0.25).outputs == 2**dimension
    assert outputs_lower_bound(Box.cube(dimension), 0.25).sharper_outputs == 8**dimension
    assert outputs_lower_bound(Ball(dimension), 0.25, 2.0).sharper_outputs == 4**dimension


def test_large_dimensions_have_a_logarithm_only():
    bound = outputs_lower_bound(Ball(1000, p=2.0), 0.01, 2.0)
    assert bound.outputs is None
    assert bound.log10 == pytest.approx(1000 * math.log10(50))


def test_bound_is_at_least_one():
    assert outputs_lower_bound(Box.cube(3), 100.0).outputs == 1


@pytest.mark.parametrize(
    ("domain", "delta", "p", "most"),
    [
        (Box.cube(8), 2.5, math.inf, 1),  # the cube has diameter 2
        (Box.cube(8), 2.0, math.inf, 1),
        (Box.cube(8), 6.0, 2.0, 1),  # diameter 2 sqrt(8)
        (Ball(8), 1.5, 2.0, 9),  # more than sqrt(2) apart in a ball are at most d + 1 points
        (Ball(8), 2.1, 2.0, 1),
        (Ball(3, 0.5, math.inf), 1.0, math.inf, 1),
    ],
)
def test_no_more_points_are_claimed_than_there_are(domain, delta, p, most):
    bound = outputs_lower_bound(domain, delta, p)
    assert bound.outputs <= bound.sharper_outputs <= most
    assert bound.log10 <= bound.sharper_log10 + 1e-12


@pytest.mark.parametrize("steps", range(1, 9))
@pytest.mark.parametrize("tenths", [10, 15, 20, 25, 30, 70, 90, 100])
def test_number_of_points_on_a_side_is_exact(steps, tenths):
    """Against the greedy choice, the best on a line, among positions of a fine grid."""
    length, separation, chosen = 1000 * steps, 100 * tenths, [0]
    while chosen[-1] + separation + 1 <= length:
        chosen.append(chosen[-1] + separation + 1)
    assert separated_points(Box((0.0,), (float(steps),)), tenths / 10, math.inf) == len(chosen)


@pytest.mark.parametrize("delta", [0.45, 0.9, 1.4, 1.9, 2.0])
def test_number_of_points_in_a_square_is_that_of_the_largest_clique(delta):
    points = list(product(np.arange(5) / 2, repeat=2))  # fine enough for these distances
    far = [(a, b) for a, b in combinations(points, 2) if max(abs(a[0] - b[0]), abs(a[1] - b[1])) > delta]
    graph = nx.Graph(far)
    graph.add_nodes_from(points)
    clique, _ = nx.max_weight_clique(graph, weight=None)
    assert separated_points(Box((0.0, 0.0), (2.0, 2.0)), delta, math.inf) == len(clique)


def test_points_of_a_box_multiply_and_decimals_are_taken_as_written():
    box = Box((0.0, 0.0, -1.0), (1.1, 0.3, 1.0))
    assert separated_points(box, 0.1, math.inf) == 11 * 3 * 20
    assert separated_points(box, 0.1, 2.0) is None
    assert separated_points(Ball(2), 0.1, math.inf) is None


def test_points_of_a_box_are_as_many_as_a_packing_has():
    packing = make_packing(Box((0.0, 0.0), (1.0, 0.7)), 0.1)
    assert packing.verify() and len(packing.points) == separated_points(packing.domain, 0.2, math.inf) == 5 * 4


def test_the_bound_grows_with_dimension_and_precision():
    logs = np.array(
        [[outputs_lower_bound(Box.cube(d), delta).to_dict()["log10_outputs"] for delta in (0.4, 0.1)] for d in (1, 2, 4)]
    )
    assert (np.diff(logs, axis=0) > 0).all() and (np.diff(logs, axis=1) > 0).all()


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, math.inf])
def test_packings_reach_the_bound(domain, p):
    packing = make_packing(domain, 0.2, p)
    assert packing.verify()
    assert len(packing.points) >= outputs_lower_bound(domain, 0.2, p).outputs


def test_tampered_packings_fail():
    packing = make_packing(Box.cube(2), 0.4, 2.0)
    assert packing.verify()
    for tampered in (
        replace(packing, points=packing.points[:1]),
        replace(packing, points=packing.points + 5),
        replace(packing, points=np.concatenate([packing.points, packing.points[:1]])),
        replace(packing, delta=0.6),
    ):
        assert not tampered.verify()


def test_packings_too_large_to_look_at_are_refused():
    with pytest.raises(ConfigError, match="larger delta"):
        make_packing(Box.cube(12), 0.1)


@pytest.mark.parametrize("delta", [0.0, -0.1, math.inf])
def test_bound_needs_a_positive_precision(delta):
    with pytest.raises(ConfigError, match="delta="):
        outputs_lower_bound(Box.cube(2), delta)


@pytest.mark.parametrize("make", [lambda: Box((1.0,), (0.0,)), lambda: Box((), ()), lambda: Box.cube(0), lambda: Ball(2, -1.0)])
def test_domains_must_have_a_volume(make):
    with pytest.raises(ConfigError):
        make()


# What holds, and what does not ----------------------------------------------------------------------------------------


def test_counting_outputs_approach_the_number_of_points():
    needed = [counted_outputs(points=6, size=10**power) for power in range(1, 40, 6)]
    assert needed == sorted(needed) and needed[0] < 6 and needed[-1] == 6


@pytest.mark.parametrize(("points", "size", "levels"), [(3, 5, 2), (5, 5, 6), (10, 1, 2), (2, 100, 7)])
def test_counted_outputs_are_the_fewest(points, size, levels):
    outputs, kinds = counted_outputs(points, size, levels), math.comb(points + size, size)
    assert levels**outputs >= kinds and (outputs == 1 or levels ** (outputs - 1) < kinds)


def test_first_primes_are_prime():
    primes = first_primes(2000)
    assert len(primes) == 2000 and primes[-1] == 17389


@pytest.mark.parametrize("dimension", [1, 3])
def test_one_output_is_delta_injective(dimension):
    """Theorem 2.1 asks for (1/0.8)^d and more outputs; this has one, and equal values still mean delta-equal multisets."""
    aggregation, rng = PrimeSum(Box.cube(dimension), delta=0.8), np.random.default_rng(0)
    multisets = [Multiset(rng.choice([-1.0, -0.3, 0.2, 0.3, 1.0], (3, dimension))) for _ in range(40)]
    codes = [aggregation.code(multiset) for multiset in multisets]
    same = [(i, j) for i in range(40) for j in range(i) if codes[i] == codes[j]]
    assert all(delta_equal(multisets[i], multisets[j], 0.8) for i, j in same)
    assert len(set(codes)) > 1


def test_the_code_gives_all_counts_back():
    aggregation = PrimeSum(Box.cube(2), delta=1.0)
    multiset = Multiset([[-0.9, -0.9], [0.9, 0.9], [0.8, 0.9]])
    assert aggregation.counts(aggregation.code(multiset)).tolist() == [1, 0, 0, 0, 2]
    assert aggregation.value(multiset) == pytest.approx(math.log(aggregation.code(multiset)))


def test_the_code_adds_up_over_unions():
    aggregation = PrimeSum(Box.cube(1), delta=0.5)
    first, second = Multiset([[0.3], [-1.0]]), Multiset([[1.0]])
    assert aggregation.code(first + second) == aggregation.code(first) * aggregation.code(second)


def test_prime_sum_needs_its_vectors_inside():
    with pytest.raises(GraphInputError, match="outside"):
        PrimeSum(Box.cube(1), delta=0.5).code(Multiset([[2.0]]))
    with pytest.raises(ConfigError, match="larger delta"):
        PrimeSum(Box.cube(30), delta=0.5)
