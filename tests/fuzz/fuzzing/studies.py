"""What describes a study, and the small files of the theory: TOML, recipes of generated sets, pairs in graph6, counts."""

import copy
import functools
import json

from fuzzing.invariants import Violation, check_graphset
from fuzzing.mutation import as_json, mutate_bytes, mutate_value

MOST_CELLS = 100_000
SPEC = {
    "name": "study",
    "protocol": "paper",
    "metric": "accuracy",
    "folds": [0, 1],
    "seeds": [0],
    "repeats": 1,
    "no_duplicates": False,
    "runs": [
        {"methods": ["phist", "own", "majority"], "datasets": ["MUTAG", "TREES"], "labelled": [20], "tested": 10},
        {"methods": ["wl-subtree", "gcn"], "datasets": ["ENZYMES"], "options": {}},
    ],
    "methods": {
        "phist": {"options": {"effort": "low", "epochs": 2, "bins": 4, "members": ["network"]}, "on": {"MUTAG": {"roots": 2}}},
        "own": {"method": "ltp", "options": {"trees": [10]}},
        "gcn": {"options": {"epochs": 3}},
    },
    "generated": {"TREES": {"family": "trees", "arguments": {"n_graphs": 4, "n_nodes": 6, "seed": 0}}},
    "left_out": [{"methods": ["gin"], "datasets": ["MUTAG"], "reason": "no time"}],
}
RECIPES = (
    ("trees", {"n_graphs": 4, "n_nodes": 6, "seed": 0}),
    ("planted-partitions", {"n_graphs": 4, "n_nodes": 12, "p_in": 0.5, "p_out": 0.1, "communities": 2, "seed": 0}),
    ("regular-pairs", {"n_pairs": 2, "n_nodes": 12, "degrees": [2, 3], "seed": 0}),
    ("skip-links", {"n_graphs": 4, "skips": [2, 3], "seed": 0}),
    ("triangles", {"n_graphs": 4, "nodes": [8, 10], "most": 2, "seed": 0}),
)
PAIRS = b"category\tfirst\tsecond\nBasic\tEEh_\tEwCW\nRegular\tE~~w\tE???\n"


def fuzz_spec(random, folder):
    from phist.evaluation.spec_file import read_spec

    path = folder / "study.toml"
    content = as_toml(mutate_value(random, SPEC)).encode(errors="surrogatepass")
    path.write_bytes(mutate_bytes(random, content) if random.random() < 0.3 else content)

    def read():
        spec = read_spec(path)
        if len(cells := spec.cells()) > MOST_CELLS:
            raise Violation(f"{len(cells)} cells")
        for cell in cells:
            json.dumps([cell.hash, cell.to_dict()], allow_nan=False)

    return read


def fuzz_recipe(random, folder):
    from phist.evaluation.generated import Recipe

    family, arguments = copy.deepcopy(random.choice(RECIPES))
    given = mutate_value(random, arguments)
    return lambda: check_graphset(Recipe.make(family, given if isinstance(given, dict) else arguments).graphs())


def fuzz_pairs(random, folder):
    from phist.theory.pairs import read_pairs

    path = folder / "pairs.tsv"
    path.write_bytes(mutate_bytes(random, PAIRS))

    def read():
        for pair in read_pairs(path):
            check_graphset(pair.graphs)

    return read


def fuzz_counts(random, folder):
    from phist.theory.expressiveness_record import TABLES, Record

    path = folder / "record.json"
    content = as_json(mutate_value(random, _counts())).encode(errors="surrogatepass")
    path.write_bytes(mutate_bytes(random, content) if random.random() < 0.3 else content)

    def read():
        record = Record.read(path)
        for name in TABLES:
            record.table(name)

    return read


STUDY_FORMATS = {"spec": fuzz_spec, "recipe": fuzz_recipe, "pairs": fuzz_pairs, "counts": fuzz_counts}


def as_toml(value):
    """The tables of a study on a line each; what TOML cannot say, such as null, is left out."""
    if not isinstance(value, dict):
        return f"study = {_inline(value)}\n"
    return "".join(f"{_name(key)} = {_inline(own)}\n" for key, own in value.items() if own is not None)


def _inline(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_name(key)} = {_inline(own)}" for key, own in value.items() if own is not None) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_inline(own) for own in value if own is not None) + "]"
    return {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}.get(text := as_json(value, ensure_ascii=False), text)


def _name(key):
    return json.dumps(key, ensure_ascii=False)


@functools.cache
def _counts():
    from phist.theory.expressiveness_record import Record, count_verdicts

    class Told:
        told_apart = dict.fromkeys(Record().variants(), True)

    counts = count_verdicts([Told])
    return Record(suite={"basic": counts}, families={"rings": counts}).to_dict()
