"""
What a projective histogram cannot see, and how little helps
============================================================

A projective histogram counts along each coordinate. Two multisets with the same counts look alike to it, until they are rotated; a
learned layer before it rotates.
"""

# %%
import torch

from phist import ProjectiveHistogram
from phist.drawing.theory import plot_theory

figure = plot_theory("histogram")

# %%
# The same in numbers: one diagonal of a square against the other.
corners = torch.tensor([[-0.5, -0.5], [0.5, 0.5], [-0.5, 0.5], [0.5, -0.5]])
which = torch.tensor([0, 0, 1, 1])
histogram = ProjectiveHistogram(bins=4, kernel="uniform")
as_they_are = histogram(corners, which)
print("as they are, equal:", torch.equal(as_they_are[0], as_they_are[1]))

# %%
turn = torch.tensor([[0.8, 0.6], [-0.6, 0.8]])
rotated = histogram(corners @ turn, which)
print("rotated, equal:    ", torch.equal(rotated[0], rotated[1]))
