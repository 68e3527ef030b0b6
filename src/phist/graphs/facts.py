"""What is known of the nine datasets: how they are called, and what they must contain."""

import re
from collections import Counter
from dataclasses import dataclass
from difflib import get_close_matches

from phist.errors import DatasetError
from phist.graphs.graphset import GraphSet


@dataclass(frozen=True)
class DatasetFacts:
    """The content of a dataset once loops are dropped and repeated rows count once; ``fingerprint`` covers all of it."""

    name: str
    graphs: int
    class_counts: tuple[tuple[int, int], ...]  # (label, graphs), in the order of labels
    nodes: int
    edges: int
    fingerprint: str
    aliases: tuple[str, ...] = ()

    @property
    def classes(self) -> int:
        return len(self.class_counts)

    def check(self, graphs: GraphSet, source: str) -> None:
        """Raise a `DatasetError` that says what differs."""
        counts = Counter(graphs.label_list())
        found = {
            "graphs": (len(graphs), self.graphs),
            "class counts": (tuple((label, counts[label]) for label in graphs.classes), self.class_counts),
            "nodes": (graphs.n_nodes, self.nodes),
            "edges": (graphs.n_edges, self.edges),
            "fingerprint": (graphs.fingerprint(), self.fingerprint),
        }
        for what, (given, needed) in found.items():
            if given != needed:
                raise DatasetError(
                    f"{source} is not {self.name}: its {what} should be {needed}, found {given}; "
                    "replace it with the archive of the TU collection, or read it as your own data with read_graphs"
                )


_NINE = (
    DatasetFacts(
        "MUTAG", 188, ((-1, 63), (1, 125)), 3371, 3721, "f47948fd0e5496d0511222e437aa95a0ea252e5b2be354c42a83cdcf558b5f01"
    ),
    DatasetFacts(
        "ENZYMES",
        600,
        ((1, 100), (2, 100), (3, 100), (4, 100), (5, 100), (6, 100)),
        19580,
        37282,
        "25d7066d19029fe87ebe1ba94acd869e701797510f49e0111ca31b42253d0e11",
    ),
    DatasetFacts(
        "PROTEINS", 1113, ((1, 663), (2, 450)), 43471, 81044, "0566ad7857e86c42e7ea3441f46037e4851ea7a707b04d7f48358e163b0ab237"
    ),
    DatasetFacts(
        "DD",
        1178,
        ((1, 691), (2, 487)),
        334925,
        843046,
        "2e9c84f8d393fe4399f14127015e66be582f2904e465d3fa6e5ee6326990504e",
        ("D&D",),
    ),
    DatasetFacts(
        "NCI1", 4110, ((0, 2053), (1, 2057)), 122747, 132753, "0d2856ad0ee7ee9c5acbd25503af56d25126c8e485c98bb08107516639964821"
    ),
    DatasetFacts(
        "IMDB-BINARY",
        1000,
        ((0, 500), (1, 500)),
        19773,
        96531,
        "4369c02d93c68482637b0ca70308e43d583dfdc50d6af7c2041714339f83e6ec",
        ("IMDB-B",),
    ),
    DatasetFacts(
        "IMDB-MULTI",
        1500,
        ((1, 500), (2, 500), (3, 500)),
        19502,
        98903,
        "71bc24d035ece3bd3e349f04935d2b43e85e820768f6f21d06c1855fe9a92575",
        ("IMDB-M",),
    ),
    DatasetFacts(
        "COLLAB",
        5000,
        ((1, 2600), (2, 775), (3, 1625)),
        372474,
        12286079,
        "6cb0ebaed71355bc792e6a0fd91b6fcf61e08ca06a99433c29e0c8db1f9b1dc6",
    ),
    DatasetFacts(
        "REDDIT-BINARY",
        2000,
        ((-1, 1000), (1, 1000)),
        859254,
        995508,
        "af7047d1cbe9d9da7de2d7ab5f8f8063dbfffaf3d042908ae1dfeb46cc4c2e73",
        ("REDDIT-B",),
    ),
)

DATASETS = {facts.name: facts for facts in _NINE}
_BY_PLAIN_NAME = {re.sub(r"[^a-z0-9]", "", name.lower()): facts for facts in _NINE for name in (facts.name, *facts.aliases)}


def known_dataset(name: str) -> DatasetFacts | None:
    """The dataset of that name, however it is spelt, or ``None``.

    >>> known_dataset("imdb_binary").name, known_dataset("REDDIT-B").name, known_dataset("ours")
    ('IMDB-BINARY', 'REDDIT-BINARY', None)
    """
    return _BY_PLAIN_NAME.get(re.sub(r"[^a-z0-9]", "", name.lower()))


def dataset_facts(name: str) -> DatasetFacts:
    """The dataset of that name; an unknown one is a `DatasetError` with the nearest name that is known."""
    facts = known_dataset(name)
    if facts is None:
        nearest = get_close_matches(name.upper(), DATASETS, n=1)
        hint = f" Did you mean {nearest[0]}?" if nearest else ""
        raise DatasetError(
            f"{name!r} is no dataset phist knows by name.{hint} The names are {', '.join(DATASETS)}; "
            "graphs of your own are read from a path, with read_graphs"
        )
    return facts
