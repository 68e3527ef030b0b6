"""The palette can be told apart by people with any colour vision, by the simulation of Machado, Oliveira and Fernandes (2009)."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import phist.report
from phist.drawing.explanation import AGAINST, FOR, NEUTRAL
from phist.drawing.style import COLORS

# Their matrices for complete loss of one kind of cone, on linear RGB.
VISION = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]])
NOTICEABLE = 10  # CIE76; about 2.3 is just noticeable side by side, and lines are apart


def seen(color, vision):
    """A colour of the screen in CIELAB, as somebody sees it."""
    values = np.array([int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    x, y, z = XYZ @ np.clip(np.asarray(VISION[vision]) @ linear, 0, 1) / XYZ.sum(1)
    f = [value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116 for value in (x, y, z)]
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distance(one, other, vision):
    return np.linalg.norm(seen(one, vision) - seen(other, vision))


def test_the_simulation_shows_what_it_should():
    assert distance("#ff0000", "#00ff00", "normal") > 100
    assert distance("#d7191c", "#6b7a00", "deuteranopia") < distance("#d7191c", "#6b7a00", "normal") / 2


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("colors", [COLORS, (FOR, AGAINST, NEUTRAL)], ids=["lines", "explanations"])
def test_colors_can_be_told_apart(colors, vision):
    nearest = min(combinations(colors, 2), key=lambda pair: distance(*pair, vision))
    assert distance(*nearest, vision) > NOTICEABLE, nearest


@pytest.mark.parametrize("color", COLORS)
def test_colors_stand_out_from_paper(color):
    assert seen("#ffffff", "normal")[0] - seen(color, "normal")[0] > 20


PALETTE = (Path(phist.report.__file__).parent / "templates" / "palette.css").read_text()
CLASSES = ("gnn", "descriptor", "other", "phist", "kernel", "floor")  # in the order in which pages give them to classes
SCHEMES = {"light": PALETTE.partition("@media")[0], "dark": PALETTE.partition("@media")[2]}


def class_colors(scheme):
    return [re.search(rf"--{name}: (#[0-9a-f]{{6}})", SCHEMES[scheme]).group(1) for name in CLASSES]


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_classes_on_pages_can_be_told_apart(scheme, vision):
    nearest = min(combinations(class_colors(scheme), 2), key=lambda pair: distance(*pair, vision))
    assert distance(*nearest, vision) > NOTICEABLE, nearest


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_two_classes_on_a_page_differ_even_as_thin_rings(scheme, vision):
    one, other, *_ = class_colors(scheme)
    assert distance(one, other, vision) > 4 * NOTICEABLE
