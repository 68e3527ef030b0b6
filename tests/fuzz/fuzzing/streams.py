"""Tables with one graph a row, and lakes of files that a model is asked about in a stream, killed and resumed."""

import functools
import io
import shutil

from fuzzing.graph_files import GRAPHS, TU_FILES, change_part, reading_of
from fuzzing.invariants import Violation, check_graphset, check_message
from fuzzing.models import saved_models
from fuzzing.mutation import WORDS, as_json, mutate_bytes, mutate_value

ENDS = ((0, 1, 1, 2), (1, 0, 2, 1))  # a path of three nodes, its arcs in both directions and sorted
ODD = (-1, 2, 3, 5, 127, 2**31 - 1, 2**31, 2**62, 2**63 - 1, None)


def fuzz_graph_rows(random, folder):
    path = folder / "x.parquet"
    path.write_bytes(_table(random))
    return reading_of(random, path)


def fuzz_stream(random, folder):
    """Ask, damage what was written, ask again: every row is answered or set aside once, whatever the files hold."""
    lake, out = folder / "lake", folder / "out"
    lake.mkdir()
    for number in range(random.choice((1, 2, 3))):
        _write_source(random, lake, number)
    options = {
        "on_error": random.choice(("skip", "skip", "skip", "stop")),
        "reading": _reading(random),
        "limits": random.choice(((2, 1), (2, 3), (100, 100))),
    }
    damages = random.random() < 0.5

    def ask():
        rows = _run(lake, out, **options)
        if damages:
            _damage_parts(random, out)
        again = _run(lake, out, **options)
        if again != rows:
            raise Violation(f"{rows} rows, and {again} when asked again")

    return ask


def fuzz_gathered(random, folder):
    """Gather the files of a lake to one set, damage it, and ask for it again: what is opened is a sound set."""
    lake, place = folder / "lake", folder / "gathered"
    lake.mkdir()
    for number in range(random.choice((1, 2))):
        _write_source(random, lake, number)
    reading = _reading(random)
    damages = random.random() < 0.5

    def gather():
        from phist.scale.gathering import gather_graphs

        check_graphset(gather_graphs(str(lake), place, reading, progress=False))
        if damages:
            change_part(random, random.choice(sorted(place.iterdir())))
        check_graphset(gather_graphs(str(lake), place, reading, progress=False))

    return gather


def fuzz_batch(random, folder):
    """A table in memory, as Ray, Dask or Spark hand it on."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(io.BytesIO(_table(random)))
    except (pa.ArrowException, OSError, ValueError):  # no table: there is a format for such files
        return lambda: None
    form = random.choice((lambda: table, lambda: table, lambda: table.to_pandas(), lambda: table.to_pydict()))
    on_error = random.choice(("skip", "skip", "stop"))

    def ask():
        answer = _batch_function(on_error)(form())
        if len(answer["predicted"]) != table.num_rows:
            raise Violation(f"{table.num_rows} rows got {len(answer['predicted'])} answers")

    return ask


STREAM_FORMATS = {"graph rows": fuzz_graph_rows, "stream": fuzz_stream, "gathered": fuzz_gathered, "batch": fuzz_batch}


def _reading(random):
    from phist.graphs.packing import Reading

    return Reading(directed=random.choice((None, "keep")), weights=random.choice(("use", "ignore")), empty="drop")


@functools.cache
def _batch_function(on_error):
    from phist.scale.batches import predict_batches

    return predict_batches(saved_models() / "ensemble", on_error=on_error)


def _run(lake, out, on_error, reading, limits):
    from phist.scale.bulk import run_bulk
    from phist.scale.stretches import Limits

    summary = run_bulk(_predictions(), str(lake), out, reading=reading, on_error=on_error, limits=Limits(*limits), progress=False)
    _check_rows(out, summary.rows)
    return summary.rows


@functools.cache
def _predictions():
    from phist.scale.answers import Predictions

    return Predictions(saved_models() / "ensemble")


def _check_rows(out, count):
    """As many as were counted, none of them twice, each with probabilities."""
    import pyarrow.parquet as pq

    rows = []
    for part in out.glob("part-*.parquet"):
        table = pq.read_table(part)
        rows += zip(table["file"].to_pylist(), table["row"].to_pylist(), strict=True)
        if any(abs(sum(own) - 1) > 1e-5 for own in table["probabilities"].to_pylist()):
            raise Violation("probabilities that do not add up to one")
    if len(rows) != count or len(set(rows)) != count:
        raise Violation(f"{count} rows were counted, {len(rows)} are there and {len(set(rows))} of them are different")
    skipped = out / "_skipped.jsonl"
    for line in skipped.read_text().splitlines() if skipped.exists() else ():
        check_message(line)


def _damage_parts(random, out):
    for part in sorted(out.glob("part-*.parquet")):
        if random.random() < 0.5:
            part.write_bytes(mutate_bytes(random, part.read_bytes()[:-50])) if random.random() < 0.5 else part.unlink()


def _write_source(random, lake, number):
    kind = random.choice(("parquet", "parquet", "parquet", "jsonl", "tu", "set"))
    if kind == "parquet":
        (lake / f"{number}.parquet").write_bytes(_table(random))
    elif kind == "jsonl":
        lines = [as_json(mutate_value(random, graph) if random.random() < 0.5 else graph) for graph in GRAPHS]
        content = "\n".join(lines).encode(errors="surrogatepass")
        (lake / f"{number}.jsonl").write_bytes(mutate_bytes(random, content) if random.random() < 0.3 else content)
    elif kind == "tu":
        (lake / f"{number}").mkdir()
        for name, content in TU_FILES.items():
            changed = mutate_bytes(random, content) if random.random() < 0.2 else content
            (lake / f"{number}" / name).write_bytes(changed)
    else:
        shutil.copytree(_saved_set(), lake / f"{number}")


@functools.cache
def _saved_set():
    from phist import as_graphset

    place = saved_models() / "graphs"
    as_graphset([(3, [(0, 1), (1, 2)]), (2, [(0, 1)])], ["path", "cycle"]).save(place)
    return place


def _table(random):
    """Bytes of a Parquet file: sound graphs with odd values, types and pages."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = random.choice((0, 1, 3, 6))
    columns = {"n_nodes": pa.array([_odd(random, 3) for _ in range(rows)], random.choice((pa.int32(), pa.int64())))}
    number = random.choice((pa.int32(), pa.int32(), pa.int64(), pa.int8(), pa.uint64(), pa.float64()))
    for name, ends in zip(("sources", "targets"), ENDS, strict=True):
        columns[name] = _lists(random, rows, ends, number)
    if random.random() < 0.3:
        weights = random.choice(((1.0,) * 4, (2.0, 2.0, 0.5, 0.5), (float("nan"),) * 4, (1e308,) * 4, (-1.0,) * 4, (1.0,) * 3))
        columns["weights"] = _lists(random, rows, weights, pa.float64())
    for name in ("id", "label"):
        if random.random() < 0.5:
            columns[name] = _names(random, rows)
    if random.random() < 0.1:
        del columns[random.choice(sorted(columns))]
    memory = io.BytesIO()
    compression, groups = random.choice(("none", "snappy", "zstd")), random.choice((1, 2, 100))
    pq.write_table(pa.table(columns), memory, compression=compression, row_group_size=groups)
    return mutate_bytes(random, memory.getvalue()) if random.random() < 0.4 else memory.getvalue()


def _odd(random, value):
    return random.choice([one for one in ODD if one is None or one < 2**31]) if random.random() < 0.05 else value


def _lists(random, rows, values, kind):
    import pyarrow as pa

    lists = [list(values) for _ in range(rows)]
    if rows and random.random() < 0.3:
        one = random.choice(lists)
        one[random.randrange(len(one))] = random.choice([odd for odd in ODD if odd is None or 0 <= odd < 128])
    if rows and random.random() < 0.1:
        lists[random.randrange(rows)] = random.choice((None, [], list(values) * 50))
    make = random.choice((pa.list_, pa.list_, pa.large_list))
    return pa.array(lists, make(kind)) if random.random() < 0.95 else pa.array([0] * rows)


def _names(random, rows):
    import pyarrow as pa

    kinds = (
        lambda: pa.array([f"g{row}" for row in range(rows)]),
        lambda: pa.array([row % 2 for row in range(rows)]),
        lambda: pa.array(["path", "cycle", "path", "cycle", "path", "cycle"][:rows]).dictionary_encode(),
        lambda: pa.array([random.choice(WORDS) for _ in range(rows)], pa.string()),
        lambda: pa.array([random.choice((None, "a")) for _ in range(rows)], pa.string()),
        lambda: pa.array([random.choice((0.5, float("nan"), None)) for _ in range(rows)], pa.float64()),
        lambda: pa.array([2**64 - 1] * rows, pa.uint64()),
        lambda: pa.array([[1]] * rows, pa.list_(pa.int64())),
        lambda: pa.array(["x" * 100_000] * rows),
        lambda: pa.nulls(rows),
    )
    return random.choice(kinds)()
