"""One module of inputs: every format of graphs on disk, as valid files with random changes."""

import io
import json
import zipfile

import networkx as nx
import numpy as np

from fuzzing.invariants import check_graphset, check_saved
from fuzzing.mutation import VALUES, WORDS, as_json, mutate_bytes, mutate_value
from phist import as_graphset, check_graphs, read_graphs

TU_FILES = {
    "X_A.txt": b"1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n6, 7\n7, 8\n8, 6\n",
    "X_graph_indicator.txt": b"1\n1\n1\n2\n2\n3\n3\n3\n",
    "X_graph_labels.txt": b"1\n-1\n1\n",
}
GRAPHS = (
    {"edges": [[0, 1], [1, 2]], "n_nodes": 4, "label": "path", "id": "g0"},
    {"edges": [["a", "b", 0.5], ["b", "c", 2]], "nodes": ["a", "b", "c", "d"], "label": "tree", "id": "g1"},
    {"edges": [[5, 3], [3, 9], [9, 5]], "label": "ring", "directed": True, "id": "g2"},
)
TABLE = b"graph,source,target,weight\n1,a,b,1.5\n1,b,c,2\n2,a,b,1\n2,c,,\n3,x,y,0.25\n"
NODES = b"graph,node\n1,a\n1,z\n2,y\n", b"graph,n_nodes\n1,4\n2,3\n3,2\n"
LABELS = b"graph,label\n1,p\n2,q\n3,p\n"
EDGES = b"# an edge list\n0 1\n1 2\n2 0\n7\n", b"a,b,0.5\nb,c,1e3\nd e 2\n", b"0 1 {'weight': 2.0}\n1 2 {'weight': 1}\n"


def fuzz_tu(random, folder):
    place = folder / "X"
    place.mkdir()
    for name, content in _changed_files(random, TU_FILES).items():
        (place / name).write_bytes(content)
    return reading_of(random, place)


def fuzz_tu_zip(random, folder):
    path = folder / "X.zip"
    packing = random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", packing) as archive:
        for name, content in _changed_files(random, TU_FILES).items():
            archive.writestr(random.choice(("", "X/")) + name if random.random() < 0.1 else f"X/{name}", content)
    content = memory.getvalue()
    path.write_bytes(mutate_bytes(random, content) if random.random() < 0.6 else content)
    return reading_of(random, path)


def fuzz_jsonl(random, folder):
    path = folder / "x.jsonl"
    values = [mutate_value(random, graph) if random.random() < 0.5 else graph for graph in GRAPHS]
    content = "\n".join(as_json(value, ensure_ascii=random.random() < 0.8) for value in values).encode(errors="surrogatepass")
    path.write_bytes(mutate_bytes(random, content) if random.random() < 0.4 else content)
    return reading_of(random, path)


def fuzz_table(random, folder):
    path, labels = folder / random.choice(("x.csv", "x.tsv")), folder / "labels.csv"
    text = TABLE if path.suffix == ".csv" else TABLE.replace(b",", b"\t")
    path.write_bytes(mutate_bytes(random, text) if random.random() < 0.8 else text)
    labels.write_bytes(mutate_bytes(random, LABELS) if random.random() < 0.5 else LABELS)
    return reading_of(random, path, labels if random.random() < 0.5 else None, _nodes(random, folder / "nodes.csv"))


def fuzz_parquet(random, folder):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = random.choice((0, 1, 3, 5))
    columns = {name: _column(random, rows) for name in ("graph", "source", "target", "weight") if random.random() < 0.97}
    if random.random() < 0.1:
        columns["Graph "] = _column(random, rows)
    memory = io.BytesIO()
    pq.write_table(pa.table(columns), memory, compression=random.choice(("none", "snappy", "gzip", "zstd")))
    content = memory.getvalue()
    path = folder / "x.parquet"
    path.write_bytes(mutate_bytes(random, content) if random.random() < 0.6 else content)
    return reading_of(random, path)


def fuzz_edge_list(random, folder):
    path = folder / f"x{random.choice(('.edges', '.edgelist', '.txt'))}"
    path.write_bytes(mutate_bytes(random, random.choice(EDGES)))
    return reading_of(random, path)


def fuzz_graphml(random, folder):
    return _fuzz_markup(random, folder / "x.graphml", nx.write_graphml)


def fuzz_gml(random, folder):
    return _fuzz_markup(random, folder / "x.gml", nx.write_gml)


def fuzz_class_folder(random, folder):
    place = folder / "set"
    for name in ("a", "b", random.choice(("c", ".hidden", "é", "x y"))):
        (place / name).mkdir(parents=True)
        for number in range(2):
            content = random.choice(EDGES)
            changed = mutate_bytes(random, content) if random.random() < 0.3 else content
            (place / name / f"{number}{random.choice(('.txt', '.csv', '.edges', '.gml', '.TXT'))}").write_bytes(changed)
    return reading_of(random, place)


def fuzz_graphset(random, folder):
    place = folder / "set"
    _random_set(random).save(place)
    for file in random.sample(sorted(place.iterdir()), random.choice((1, 1, 2))):
        change_part(random, file)
    return reading_of(random, place)


GRAPH_FORMATS = {
    "TU folder": fuzz_tu,
    "TU zip": fuzz_tu_zip,
    "JSONL": fuzz_jsonl,
    "table": fuzz_table,
    "Parquet": fuzz_parquet,
    "edge list": fuzz_edge_list,
    "GraphML": fuzz_graphml,
    "GML": fuzz_gml,
    "folder per class": fuzz_class_folder,
    "GraphSet": fuzz_graphset,
}


def reading_of(random, path, labels=None, nodes=None):
    """The call to try: read with random options, check what comes out and use it."""
    options = {
        "directed": random.choice((None, None, "symmetrise", "keep")),
        "self_loops": random.choice((None, None, "drop", "keep")),
        "weights": random.choice(("use", "use", "abs", "ignore")),
        "empty": random.choice(("error", "drop")),
    }
    if nodes is not None:
        options["nodes"] = nodes
    saves, checks = random.random() < 0.2, random.random() < 0.02

    def read():
        graphs = read_graphs(path, labels, **options)
        check_graphset(graphs)
        if saves:
            check_saved(graphs, path.parent / "saved")
        if checks:
            check_graphs(graphs).to_dict()

    return read


def _nodes(random, path):
    """Now and then a table of nodes, or numbers of them."""
    if random.random() < 0.7:
        return None
    if random.random() < 0.3:
        return random.choice(({"1": 5, "2": 5, "3": 5}, {1: 5, 2: 5, 3: 5}, random.choice(VALUES), {"1": random.choice(VALUES)}))
    path.write_bytes(mutate_bytes(random, random.choice(NODES)))
    return path


def _changed_files(random, files):
    changed = dict(files)
    name = random.choice(sorted(files))
    changed[name] = mutate_bytes(random, files[name])
    if random.random() < 0.05:
        del changed[random.choice(sorted(files))]
    return changed


def _column(random, rows):
    import datetime

    import pyarrow as pa

    kinds = (
        lambda: pa.array([random.choice((1, 2, 3)) for _ in range(rows)], pa.int64()),
        lambda: pa.array([random.choice(("a", "b", "c")) for _ in range(rows)]),
        lambda: pa.array([random.choice(("a", "b", None, "")) for _ in range(rows)], pa.string()).dictionary_encode(),
        lambda: pa.array([random.choice((0, 2**64 - 1, None)) for _ in range(rows)], pa.uint64()),
        lambda: pa.array([random.choice((0.5, 1.0, float("nan"), float("inf"), None)) for _ in range(rows)], pa.float64()),
        lambda: pa.array([random.choice(WORDS) for _ in range(rows)], pa.string()),
        lambda: pa.array([random.choice((b"a", b"\xff", None)) for _ in range(rows)], pa.binary()),
        lambda: pa.array([random.choice(([1], [], None)) for _ in range(rows)], pa.list_(pa.int64())),
        lambda: pa.array([{"x": 1}] * rows, pa.struct([("x", pa.int64())])),
        lambda: pa.array([random.choice((0, -(2**62), 2**62)) for _ in range(rows)], pa.timestamp(random.choice(("us", "ms")))),
        lambda: pa.array([datetime.date(2020, 1, 1)] * rows, pa.date32()),
        lambda: pa.array([random.choice((True, False, None)) for _ in range(rows)], pa.bool_()),
        lambda: pa.nulls(rows),
    )
    return random.choice(kinds[:3] if random.random() < 0.6 else kinds)()


def _fuzz_markup(random, path, write):
    graph = random.choice((nx.Graph, nx.DiGraph, nx.MultiGraph))([("a", "b"), ("b", "c"), ("c", "c")])
    graph.add_node("d", **{random.choice(("label", "weight", "x")): random.choice((1, 0.5, "text"))})
    if random.random() < 0.5:
        nx.set_edge_attributes(graph, random.choice((2, 0.5, -1.0)), "weight")
    write(graph, path)
    path.write_bytes(mutate_bytes(random, path.read_bytes()))
    return reading_of(random, path)


def _random_set(random):
    graphs = [nx.gnp_random_graph(random.randint(1, 7), 0.5, seed=random.randrange(99)) for _ in range(random.randint(1, 5))]
    if random.random() < 0.4:
        for graph in graphs:
            nx.set_edge_attributes(graph, {edge: random.choice((0.5, 2.0)) for edge in graph.edges}, "weight")
    labels = random.choice((None, [i % 2 for i in range(len(graphs))], ["a"] * len(graphs)))
    return as_graphset(graphs, labels, directed=random.choice((None, "keep")))


def change_part(random, file):
    if file.suffix == ".json":
        content = as_json(mutate_value(random, json.loads(file.read_text())))
        file.write_text(content if random.random() < 0.8 else mutate_bytes(random, content.encode()).decode(errors="replace"))
        return
    kind = np.dtype({"indices": "i4", "weights": "f8", "node_ptr": "i8", "indptr": "i8"}.get(file.stem, "u1"))
    content = file.read_bytes()
    values = np.frombuffer(content[: len(content) // kind.itemsize * kind.itemsize], kind).copy()
    if not len(values) or random.random() < 0.1:
        file.write_bytes(mutate_bytes(random, content))
        return
    place, other = random.randrange(len(values)), random.randrange(len(values))
    change = random.random()
    if change < 0.3:
        values[place], values[other] = values[other], values[place]
    elif change < 0.5:
        values[place] = values[other]
    else:
        numbers = [value for value in VALUES if isinstance(value, int | float) and value == value]
        with np.errstate(all="ignore"):
            values[place] = np.float64(random.choice([number for number in numbers if abs(number) < 1e300])).astype(kind)
    file.write_bytes(values.tobytes())
