"""Colour refinement in near-linear time, for graphs that the rounds of `symmetry` take too long over, such as long paths.

A round of Weisfeiler-Lehman looks at every node again. Here a round looks only at the neighbours of nodes whose colour is
new, and when a class falls apart its largest part keeps the old colour (Hopcroft's rule), so that a node gets a new colour
at most log2(nodes) times: O((nodes + arcs) log(nodes)) operations apart from sorting, however many rounds there are.
"""

import numpy as np
from numpy.typing import NDArray

from phist.jit import compiled

Hashes = NDArray[np.uint64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_SPLIT, _PART, _ROUND = (np.uint64(0x9E3779B97F4A7C15 * k % 2**64) for k in (17, 19, 23))


@compiled
def mix(value: np.uint64) -> np.uint64:
    """The finaliser of splitmix64, for one number."""
    value = value + np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@compiled
def _collect(
    changed: Ints, arcs: tuple[Ints, Ints, Hashes], names: Hashes, class_of: Ints, sums: Hashes, touched: Flags, affected: Ints
) -> int:
    """Add up, at each node, the messages of neighbours whose colour is new; how many nodes got one."""
    indptr, targets, codes = arcs
    n_affected = 0
    for node in changed:
        for arc in range(indptr[node], indptr[node + 1]):
            target = targets[arc]
            sums[target] += mix(names[class_of[node]] + codes[arc])
            if not touched[target]:
                touched[target] = True
                affected[n_affected] = target
                n_affected += 1
    return n_affected


@compiled
def _parts(group: Ints, sums: Hashes, quiet: int) -> tuple[Ints, Hashes, Ints]:
    """The parts of a class: nodes with equal sums, which stand together in ``group``, and last those that got no message.

    Returns:
        Where each part begins in ``group``, its sum, and its size.
    """
    begins = np.zeros(len(group) + 1, np.int64)
    n_parts = 1
    for place in range(1, len(group)):
        if sums[group[place]] != sums[group[place - 1]]:
            begins[n_parts] = place
            n_parts += 1
    begins[n_parts] = len(group)
    part_sums, sizes = np.zeros(n_parts + 1, np.uint64), np.full(n_parts + 1, quiet)
    for part in range(n_parts):
        part_sums[part], sizes[part] = sums[group[begins[part]]], begins[part + 1] - begins[part]
    last = n_parts + (1 if quiet else 0)
    return begins[:last], part_sums[:last], sizes[:last]


@compiled
def _largest(part_sums: Hashes, sizes: Ints) -> int:
    """Of the largest parts of a class the one with the smallest sum, so that the choice is the same in every graph."""
    best = 0
    for part in range(1, len(sizes)):
        if sizes[part] > sizes[best] or (sizes[part] == sizes[best] and part_sums[part] < part_sums[best]):
            best = part
    return best


@compiled
def _quiet_members(members: Ints, touched: Flags, quiet: int) -> Ints:
    found, n_found = np.empty(quiet, np.int64), 0
    for node in members:
        if not touched[node]:
            found[n_found] = node
            n_found += 1
    return found


@compiled
def _move_to_end(moving: Ints, members: Ints, position: Ints, end: int) -> None:
    """Bring nodes to the places before ``end``, each in exchange for the node that stands there."""
    for node in moving:
        end -= 1
        other, place = members[end], position[node]
        members[place], position[other] = other, place
        members[end], position[node] = node, end


@compiled
def _layout(class_of: Ints, n_classes: int) -> tuple[Ints, Ints, Ints, Ints]:
    """Members of a class standing together: ``members[first[c] : first[c] + size[c]]``; and the place of each node."""
    n_nodes = len(class_of)
    members = np.argsort(class_of, kind="mergesort")
    position, size, first = np.empty(n_nodes, np.int64), np.zeros(n_nodes, np.int64), np.zeros(n_nodes, np.int64)
    position[members] = np.arange(n_nodes)
    for node in range(n_nodes):
        size[class_of[node]] += 1
    for c in range(1, n_classes):
        first[c] = first[c - 1] + size[c - 1]
    return members, position, size, first


@compiled
def refine_until_stable(indptr: Ints, targets: Ints, codes: Hashes, class_of: Ints, names: Hashes) -> np.uint64:
    """Split the classes of the nodes until no class falls apart.

    Args:
        indptr, targets, codes: for each node where its messages go, and a number for the kind of the arc.
        class_of: the class of each node, 0 to classes - 1; changed in place to the stable classes.
        names: a name for each class that means the same in every graph. (nodes), of which the first (classes) are used.

    Returns:
        A digest of everything that happened: equal for two graphs that begin alike exactly where 1-WL cannot tell them
        apart (up to collisions of 64-bit numbers).
    """
    n_nodes, n_classes = len(class_of), class_of.max() + 1
    sums, touched = np.zeros(n_nodes, np.uint64), np.zeros(n_nodes, np.bool_)
    changed, affected = np.arange(n_nodes), np.empty(n_nodes, np.int64)
    members, position, size, first = _layout(class_of, n_classes)
    digest, n_changed, finished = np.uint64(0), n_nodes, np.uint64(0)
    while n_changed:
        finished += np.uint64(1)
        n_affected = _collect(changed[:n_changed], (indptr, targets, codes), names, class_of, sums, touched, affected)
        nodes = affected[:n_affected]
        nodes = nodes[np.argsort(sums[nodes], kind="mergesort")]
        nodes = nodes[np.argsort(class_of[nodes], kind="mergesort")]
        old_class = class_of[nodes]
        happened, n_changed, start = np.uint64(0), 0, 0
        while start < n_affected:
            c = old_class[start]
            group = nodes[start : np.searchsorted(old_class, c, side="right")]
            start += len(group)
            quiet = size[c] - len(group)
            begins, part_sums, sizes = _parts(group, sums, quiet)
            kept = _largest(part_sums, sizes)
            quiet_nodes = group[:0]
            if quiet and kept != len(sizes) - 1:
                quiet_nodes = _quiet_members(members[first[c] : first[c] + size[c]], touched, quiet)
            for part in range(len(sizes)):
                happened += mix(mix(names[c] + _SPLIT) + mix(part_sums[part] + _PART) + np.uint64(sizes[part]))
                if part == kept:
                    continue
                moving = group[begins[part] : begins[part] + sizes[part]] if begins[part] < len(group) else quiet_nodes
                _move_to_end(moving, members, position, first[c] + size[c])
                size[c] -= len(moving)
                first[n_classes], size[n_classes] = first[c] + size[c], len(moving)
                names[n_classes] = mix(mix(names[c] + _PART) + mix(part_sums[part] + _SPLIT) + finished * _ROUND)
                class_of[moving] = n_classes
                changed[n_changed : n_changed + len(moving)] = moving
                n_changed += len(moving)
                n_classes += 1
        sums[nodes], touched[nodes] = np.uint64(0), False
        digest = mix(digest + happened)
    return digest
