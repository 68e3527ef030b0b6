"""The catalogue of datasets known by name: how they are called, and what they must contain."""

import re
from collections import Counter
from dataclasses import dataclass
from difflib import get_close_matches

from phist.errors import DatasetError
from phist.graphs.graphset import GraphSet


@dataclass(frozen=True)
class DatasetFacts:
    """The content of a dataset once loops are dropped and repeated rows count once.

    Attributes:
        class_counts: (label, graphs), in the order of labels.
        fingerprint: of graphs and labels, all of them.
        aliases: other names that users know it by.
        collection_name: what the TU collection calls it, ``None`` where the collection does not have it; the name itself,
            unless given.
        split_digest: SHA-256 of the official split, one word a graph and line; empty for a set that has none.
    """

    name: str
    graphs: int
    class_counts: tuple[tuple[int, int], ...]
    nodes: int
    edges: int
    fingerprint: str
    aliases: tuple[str, ...] = ()
    collection_name: str | None = ""
    split_digest: str = ""

    def __post_init__(self) -> None:
        if self.collection_name == "":
            object.__setattr__(self, "collection_name", self.name)

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
                    "replace it with the published archive, or read it as your own data with read_graphs"
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

_DEVELOPMENT = (
    DatasetFacts(
        "SYNTHETICnew",
        300,
        ((-1, 150), (1, 150)),
        30000,
        58875,
        "fbf7064736d782a1e3cd5bb88745d7b45c8bd27a200b3de7cd195cd4b61cd0a6",
    ),
    DatasetFacts(
        "Synthie",
        400,
        ((0, 93), (1, 107), (2, 110), (3, 90)),
        38000,
        69171,
        "90d8872db96226b8bb163c32b8aea65b3c790f195ed820ab6ab1e4a1a54cea01",
    ),
    DatasetFacts(
        "MSRC_21",
        563,
        tuple(enumerate((25, 30, 28, 30, 27, 30, 30, 30, 30, 32, 30, 34, 30, 30, 24, 30, 30, 24, 29, 10), start=1)),
        43644,
        111656,
        "547bb07c332833129ee5432ce7504b104b6d0f59a568c269be6557a0513edd6c",
    ),
    DatasetFacts(
        "PTC_MR", 344, ((-1, 192), (1, 152)), 4915, 5054, "c6e6b4efb2f16f8116bfc6c16ab604aed646bf676803956648c8fbe59f0f446a"
    ),
    DatasetFacts(
        "COX2", 467, ((-1, 365), (1, 102)), 19252, 20289, "c7c40acf0ac9d0486c01e05c9449f8a5b41b9a97f7f921a996fc12a62388378f"
    ),
    DatasetFacts("OHSU", 79, ((-1, 35), (1, 44)), 6479, 15773, "88ec118c7692de4454b26b4cf22e01ee684c11b523bc3e375600051b38308437"),
    DatasetFacts(
        "Letter-high",
        2250,
        tuple((label, 150) for label in range(15)),
        10507,
        10125,
        "c0fb0062205537f56688dcd3f608f216f960811857c74206e314a06b0fe24a6d",
    ),
    DatasetFacts(
        "Tox21_MMP",
        7320,
        ((-1, 6178), (1, 1142)),
        127998,
        130481,
        "ef4cb392592f5e6cd24fced27fdbda3f8b426605883b686f3b94e007c27aa0f1",
        ("Tox21_MMP_training",),
        collection_name="Tox21_MMP_training",
    ),
)

_LARGE = (
    DatasetFacts(
        "MOLHIV",
        41127,
        ((0, 39684), (1, 1443)),
        1049163,
        1129688,
        "9d3aca7b4aeb9ef2495c2ae4e5917db31d9c4b7fd227e914fa3a584028bb34e9",
        ("ogbg-molhiv",),
        collection_name=None,
        split_digest="0c116111acc645807e2769dcbba5e43716a9e42b84989e9dd620a23623818b81",
    ),
    DatasetFacts(
        "DEEZER-EGOS",
        9629,
        ((0, 5470), (1, 4159)),
        226213,
        628303,
        "7cae572e3f06f46873b411d3f7c98c2accd17e3510a4b69c465c9a08699eeae1",
        ("deezer_ego_nets",),
        collection_name="deezer_ego_nets",
    ),
)

# The last group has a set for size and imbalance, and a control on which nothing should be found.
GROUPS = {"the paper's nine": _NINE, "development suite": _DEVELOPMENT, "large and control": _LARGE}
DATASETS = {facts.name: facts for group in GROUPS.values() for facts in group}


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


_BY_PLAIN_NAME = {_plain(name): facts for facts in DATASETS.values() for name in (facts.name, *facts.aliases)}


def known_dataset(name: str) -> DatasetFacts | None:
    """The dataset of that name, however it is spelt, or ``None``.

    >>> known_dataset("imdb_binary").name, known_dataset("REDDIT-B").name, known_dataset("ours")
    ('IMDB-BINARY', 'REDDIT-BINARY', None)
    """
    return _BY_PLAIN_NAME.get(_plain(name))


def dataset_facts(name: str) -> DatasetFacts:
    """The dataset of that name; an unknown one is a `DatasetError` with the nearest name that is known."""
    facts = known_dataset(name)
    if facts is None:
        nearest = get_close_matches(_plain(name), _BY_PLAIN_NAME, n=1)
        hint = f" Did you mean {_BY_PLAIN_NAME[nearest[0]].name}?" if nearest else ""
        raise DatasetError(
            f"{name!r} is no dataset phist knows by name.{hint} The names are {', '.join(DATASETS)}; "
            "graphs of your own are read from a path, with read_graphs"
        )
    return facts
