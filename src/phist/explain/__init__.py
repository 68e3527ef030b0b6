"""Why did it say so? Exact shares of nodes, votes of roots, and what becomes of a prediction without an edge or a node."""

from phist.explain.channels import BinEffect, ChannelEffect, graphs_that_fill
from phist.explain.explainer import WhatIf, delete, explain, what_if
from phist.explain.explanation import Explanation

__all__ = ["BinEffect", "ChannelEffect", "Explanation", "WhatIf", "delete", "explain", "graphs_that_fill", "what_if"]
