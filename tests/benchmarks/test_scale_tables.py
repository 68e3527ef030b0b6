"""The page on many graphs and the file of measurements say the same."""

import importlib.util
from pathlib import Path

FILE = Path(__file__).parents[2] / "benchmarks" / "scale_tables.py"


def test_the_page_has_the_tables_of_the_measurements():
    spec = importlib.util.spec_from_file_location("scale_tables", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    _, _, rest = module.PAGE.read_text().partition(module.BEGIN)
    assert rest.partition(module.END)[0].strip() == module.tables(), "run python benchmarks/scale_tables.py"
