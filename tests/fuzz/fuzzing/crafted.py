"""Inputs made to do harm: each is written into a folder and returns the call that reads it."""

import contextlib
import json
import os
import struct
import zipfile
import zlib

import networkx as nx
import numpy as np

from fuzzing.invariants import Violation, check_graphset
from phist import as_graphset, check_graphs, read_graphs
from phist.errors import PhistError

CRAFTED = {}


def case(function):
    """A case by the name of its function, refused or read."""
    CRAFTED[function.__name__] = function
    return function


def refused(call):
    """The call, which must end in a `PhistError`."""

    def checked():
        try:
            call()
        except PhistError:
            raise
        raise Violation("accepted")

    return checked


def reading(path, content, expected=refused, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode(errors="surrogatepass"))
    return expected(lambda: check_graphset(read_graphs(path, **options)))


def accepted(call):
    return call


def _texts(suffix, texts, expected=refused):
    for name, text in texts.items():
        CRAFTED[f"{suffix[1:]}: {name}"] = lambda folder, text=text: reading(folder / f"x{suffix}", text, expected)


_texts(".jsonl", {
    "two thousand million nodes": '{"edges":[],"n_nodes":2000000000}',
    "a hundred million nodes on a line, a hundred lines": '{"edges":[],"n_nodes":100000000}\n' * 100,
    "a number of nodes beyond 64 bits": json.dumps({"edges": [[0, 1]], "n_nodes": 10**30}),
    "an end beyond 64 bits": json.dumps({"edges": [[0, 10**20]], "n_nodes": 10**30}),
    "a number of 5,000 digits": '{"edges":[[0,%s]]}' % ("9" * 5000),
    "a weight of 4,000 digits": json.dumps({"edges": [[0, 1, 10**4000]]}),
    "a weight that is a list": '{"edges":[[0,1,[1]]]}',
    "a list as an end": '{"edges":[[0,[1]]]}',
    "nested a hundred thousand deep": '{"edges":' + "[" * 100_000 + "]" * 100_000 + "}",
    "half a surrogate as an id": '{"edges":[[0,1]],"id":"\\ud800"}\n{"edges":[[0,1]],"id":{}}',
    "bad UTF-8": b'{"edges":[[0,1]],"label":"\xff\xfe"}',
    "no node": '{"edges":[]}',
    "an edge of a million characters": json.dumps({"edges": ["x" * 1_000_000]}),
    "labels on some lines": '{"edges":[[0,1]],"label":1}\n{"edges":[[0,1]]}',
    "true as a number of nodes": '{"edges":[[0,1]],"n_nodes":true}',
    "one as a direction": '{"edges":[[0,1]],"directed":[1]}',
})  # fmt: skip
_texts(".jsonl", {
    "labels of several kinds": '{"edges":[[0,1]],"label":1}\n{"edges":[[0,1]],"label":"1"}\n{"edges":[[0,1]],"label":1.5}',
    "ids beyond 64 bits": json.dumps({"edges": [[0, 1]], "id": 10**40}),
    "a name with a zero byte": '{"edges":[["a\\u0000","b"]],"id":"x\\u0000"}',
}, accepted)  # fmt: skip
_texts(".csv", {
    "a weight of 5,000 digits": "graph,source,target,weight\n1,a,b," + "9" * 5000,
    "bad UTF-8": b"graph,source,target\n1,a,\xff\xfe",
    "a field of a million characters": "graph,source,target\n1,a," + "b" * 1_000_000,
    "a quote that never ends": 'graph,source,target\n1,"a,b\n' * 100,
    "two columns of one name": "graph,graph,source,target\n1,2,a",
    "columns of a hundred thousand names": ",".join(f"c{i}" for i in range(100_000)) + "\n1",
    "a zero byte": "graph,source,target\n1,a\x00,b\x00\n\x00",
    "only a header": "graph,source,target\n",
})  # fmt: skip
_texts(".edges", {
    "a weight of 5,000 digits": "0 1 " + "9" * 5000,
    "attributes that are nested": "0 1 " + "{'weight': " + "[" * 5000,
    "attributes that multiply": "0 1 {'weight': 9**9**9**9}",
    "attributes that cannot be hashed": "0 1 {{}: 1}",
    "attributes with a long number": "0 1 {'weight': " + "9" * 5000 + "}",
    "a line of a million characters": "x" * 1_000_000 + " 1 2 3 4",
    "bad UTF-8": b"0 1\n\xff\xfe 2\n",
    "an odd digit": "0 1 \N{SUPERSCRIPT TWO}",
})  # fmt: skip
_texts(".gml", {
    "nested twenty thousand deep": "graph [ " + "a [ " * 20_000 + "] " * 20_000 + "]",
    "a number of 5,000 digits": "graph [ node [ id " + "9" * 5000 + " ] ]",
    "an id that is a list": "graph [ node [ id [ a 1 ] ] ]",
    "two ids": "graph [ node [ id 0 id 1 ] node [ id 0 ] ]",
    "bad UTF-8": b"graph [ node [ id 0 label \"\xff\" ] edge [ source 0 target 9 ] ]",
    "no node": "graph [ directed 0 ]",
    "a lone bracket": "graph ]",
    "not closed": "graph [ node [ id 0",
})  # fmt: skip
_GRAPHML = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">%s</graphml>'
_texts(".graphml", {
    "entities that multiply": '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {b} "{"&" + a + ";" * 1}{("&" + a + ";") * 9}">' for a, b in zip("abcdefghi", "bcdefghij", strict=True))
    + "]><graphml>&j;</graphml>",
    "a file from elsewhere": '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>' + _GRAPHML % "<graph>&a;</graph>",
    "a weight that is text": _GRAPHML % '<key id="w" for="edge" attr.name="weight" attr.type="string"/><graph><node id="a"/>'
    '<edge source="a" target="b"><data key="w">heavy</data></edge></graph>',
    "a weight of 5,000 digits": _GRAPHML % ('<key id="w" for="edge" attr.name="weight" attr.type="int"/><graph><edge source="a"'
    f' target="b"><data key="w">{"9" * 5000}</data></edge></graph>'),
    "no graph": _GRAPHML % "",
    "no node": _GRAPHML % "<graph/>",
    "another encoding": b'<?xml version="1.0" encoding="utf-99"?><graphml/>',
})  # fmt: skip

_texts(".graphml", {
    "nested fifty thousand deep": _GRAPHML % ("<graph><node id='a'>" * 50_000 + "</node></graph>" * 50_000),
}, accepted)  # fmt: skip


def _tu(folder, **changes):
    files = {"A": "1, 2\n2, 1\n", "graph_indicator": "1\n1\n2\n", "graph_labels": "0\n1\n", **changes}
    return {f"X_{name}.txt": text.encode() for name, text in files.items()}


def _tu_folder(name, expected=refused, **changes):
    def write(folder):
        for file, content in _tu(folder, **changes).items():
            (folder / file).write_bytes(content)
        return expected(lambda: check_graphset(read_graphs(folder)))

    CRAFTED[f"TU: {name}"] = write


_tu_folder("a graph number of 18 digits", graph_indicator="1\n1\n999999999999999999\n")
_tu_folder("a node of 19 digits", A="1, 9999999999999999999\n")
_tu_folder("a number of 5,000 digits", A="1, " + "9" * 5000 + "\n")
_tu_folder("a line of a million blanks", A=" " * 1_000_000)
_tu_folder("labels of 300 digits", graph_labels="9" * 300 + "\n1\n")
_tu_folder("a graph without nodes", graph_indicator="1\n1\n3\n", graph_labels="0\n1\n0\n")
_tu_folder("nothing but empty lines", graph_indicator="\n\n\n")


def _zip(path, compression, members):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


@case
def zip_that_unpacks_to_hundreds_of_megabytes(folder):
    block = b"1, 2\n" * (1 << 18)
    with zipfile.ZipFile(folder / "X.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in _tu(folder).items():
            with archive.open(name, "w") as member:
                for _ in range(300 if name == "X_A.txt" else 0):
                    member.write(block)
                member.write(content)
    return refused(lambda: read_graphs(folder / "X.zip"))


@case
def zip_whose_members_are_packed_by_lzma_and_damaged(folder):
    path = folder / "X.zip"
    _zip(path, zipfile.ZIP_LZMA, _tu(folder))
    content = bytearray(path.read_bytes())
    content[50:60] = b"\xff" * 10
    return reading(path, bytes(content))


@case
def zip_whose_lzma_asks_for_gigabytes(folder):
    path = folder / "X.zip"
    _zip(path, zipfile.ZIP_LZMA, _tu(folder))
    content = path.read_bytes()
    properties = content.index(b"\x5d", 30)
    return reading(path, content[: properties + 1] + b"\xff\xff\xff\xff" + content[properties + 5 :], accepted)


@case
def zip_that_says_it_is_small(folder):
    path = folder / "X.zip"
    _zip(path, zipfile.ZIP_DEFLATED, {**_tu(folder), "X_A.txt": b"1, 2\n" * 10_000_000})
    content, size = path.read_bytes(), struct.pack("<I", 50_000_000)
    return reading(path, content.replace(size, struct.pack("<I", 10)))


@case
def zip_with_thousands_of_sets(folder):
    _zip(folder / "X.zip", zipfile.ZIP_STORED, {f"{i}_A.txt": b"" for i in range(5000)})
    return refused(lambda: read_graphs(folder / "X.zip"))


@case
def zip_of_another_zip(folder):
    return reading(folder / "X.zip", zlib.compress(b"PK\x03\x04" * 10))


@case
def parquet_of_equal_rows(folder):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = 1_000_000
    columns = {name: pa.array(np.zeros(rows, np.int64)) for name in ("graph", "source", "target")}
    with pq.ParquetWriter(folder / "x.parquet", pa.table(columns).schema, compression="zstd") as file:
        for _ in range(40):
            file.write_table(pa.table(columns))
    return refused(lambda: read_graphs(folder / "x.parquet"))


@case
def parquet_of_one_long_name(folder):
    import pyarrow as pa
    import pyarrow.parquet as pq

    long = pa.DictionaryArray.from_arrays(pa.array(np.zeros(100_000, np.int32)), ["x" * 1_000_000])
    table = pa.table(
        {"graph": long, "source": pa.array(np.zeros(100_000, np.int64)), "target": pa.array(np.ones(100_000, np.int64))}
    )
    pq.write_table(table, folder / "x.parquet", compression="zstd")
    return lambda: check_graphset(read_graphs(folder / "x.parquet"))


@case
def parquet_of_timestamps_beyond_the_calendar(folder):
    import pyarrow as pa
    import pyarrow.parquet as pq

    times = pa.array([2**62, -(2**62)], pa.timestamp("us"))
    pq.write_table(pa.table({"graph": times, "source": pa.array([1, 2]), "target": pa.array([2, 1])}), folder / "x.parquet")
    return refused(lambda: read_graphs(folder / "x.parquet"))


@case
def parquet_of_lists(folder):
    import pyarrow as pa
    import pyarrow.parquet as pq

    lists = pa.array([[1], [2]])
    pq.write_table(pa.table({"graph": lists, "source": lists, "target": lists}), folder / "x.parquet")
    return refused(lambda: read_graphs(folder / "x.parquet"))


@case
def parquet_with_a_bit_of_its_footer_changed_wherever_it_may_be(folder):
    """Damaged statistics make pyarrow end the process where it is asked about the chunks of columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / "x.parquet"
    pq.write_table(pa.table({"graph": [1, 1], "source": [0, 1], "target": [1, 2]}), path)
    content = path.read_bytes()
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")

    def read_all():
        for place in range(start, len(content) - 8):
            path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
            with contextlib.suppress(PhistError):
                read_graphs(path)

    return read_all


@case
def table_whose_nodes_are_a_number_of_400_digits(folder):
    return reading(folder / "x.csv", "graph,source,target\n1,0,1\n", nodes={"1": 10**400})


@case
def path_of_a_user_who_is_not_there(folder):
    return refused(lambda: read_graphs("~nouser-of-this-name/x.jsonl"))


@case
def path_that_is_too_long(folder):
    return refused(lambda: read_graphs(folder / ("x" * 5000 + ".jsonl")))


@case
def path_with_a_zero_byte(folder):
    return refused(lambda: read_graphs(str(folder / "a\x00b.jsonl")))


@case
def path_of_many_folders(folder):
    return refused(lambda: read_graphs("/".join(["x"] * 50_000)))


@case
def path_that_is_empty(folder):
    return refused(lambda: read_graphs(""))


@case
def link_to_itself(folder):
    (folder / "x.jsonl").symlink_to(folder / "x.jsonl")
    return refused(lambda: read_graphs(folder / "x.jsonl"))


@case
def pipe_that_nobody_writes_to(folder):
    os.mkfifo(folder / "x.jsonl")
    return refused(lambda: read_graphs(folder / "x.jsonl"))


@case
def folder_with_a_pipe_among_its_graphs(folder):
    (folder / "a").mkdir()
    os.mkfifo(folder / "a" / "x.edges")
    return refused(lambda: read_graphs(folder))


@case
def folder_named_as_a_file_of_graphs(folder):
    (folder / "a" / "x.edges").mkdir(parents=True)
    return refused(lambda: read_graphs(folder))


@case
def labels_of_a_user_who_is_not_there(folder):
    (folder / "x.jsonl").write_text('{"edges":[[0,1]]}')
    return refused(lambda: read_graphs(folder / "x.jsonl", "~nouser-of-this-name/labels.csv"))


def _graphset(name, expected=refused, directed=False, **arrays):
    def write(folder):
        place = folder / "set"
        as_graphset([nx.path_graph(4)], directed="keep" if directed else None).save(place)
        for array, values in arrays.items():
            (place / f"{array}.bin").write_bytes(np.array(values, {"indices": "<i4"}.get(array, "<i8")).tobytes())
        return expected(lambda: check_graphset(read_graphs(place)))

    CRAFTED[f"GraphSet: {name}"] = write


_graphset("asymmetric", indices=[1, 0, 2, 1, 3, 1])
_graphset("unsorted", indices=[1, 2, 0, 1, 3, 2])
_graphset("repeated", indices=[1, 0, 0, 1, 3, 2])
_graphset("unsorted arcs", directed=True, indices=[1, 2, 0, 1, 3, 2])
_graphset("pointers that wrap around", indptr=[0, 2**62, -(2**63), -(2**62), 6])
_graphset("a neighbour below zero", indices=[1, 0, 2, 1, 3, -1])


@case
def graphset_of_deep_json(folder):
    (folder / "graphset.json").write_text("[" * 100_000)
    return refused(lambda: read_graphs(folder))


@case
def graphset_of_two_thousand_million_million_graphs(folder):
    place = folder / "set"
    as_graphset([nx.path_graph(4)]).save(place)
    header = json.loads((place / "graphset.json").read_text())
    header["arrays"]["node_ptr"][1] = 2 * 10**15
    (place / "graphset.json").write_text(json.dumps(header))
    return refused(lambda: read_graphs(place))


@case
def tuple_of_two_thousand_million_nodes(folder):
    return refused(lambda: as_graphset([(2_000_000_000, [(0, 1)])]))


@case
def sparse_matrix_of_two_thousand_million_nodes(folder):
    from scipy.sparse import coo_array

    matrix = coo_array(([1.0, 1.0], ([0, 1], [1, 0])), shape=(2_000_000_000, 2_000_000_000))
    return refused(lambda: as_graphset([matrix]))


@case
def checkup_of_a_path_of_a_hundred_thousand_nodes(folder):
    graphs = as_graphset([(100_000, np.stack([np.arange(99_999), np.arange(1, 100_000)], axis=1))])
    return lambda: check_graphs(graphs)


@case
def checkup_of_many_long_paths(folder):
    edges = np.stack([np.arange(9_999), np.arange(1, 10_000)], axis=1)
    graphs = as_graphset([(10_000 + i, edges) for i in range(30)], [i % 2 for i in range(30)])
    return lambda: check_graphs(graphs)
