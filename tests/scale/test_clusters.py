"""Real clusters on this machine: two workers, one of which is killed in the middle; nothing is lost, nothing comes twice."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as dataset
import pytest

from phist import read_graphs
from phist.graphs.formats.graph_rows import write_graph_rows
from phist.graphs.generate import make_trees
from phist.scale import embed_batches, predict_batches

FILES, ROWS = 6, 20
PAGE = Path(__file__).parents[2] / "docs" / "scale.md"


@pytest.fixture
def lake(tmp_path):
    """Graphs in some files, their ids counted through."""
    graphs, folder = make_trees(FILES * ROWS, n_nodes=8, seed=0), tmp_path / "lake"
    folder.mkdir()
    for number in range(FILES):
        write_graph_rows(folder / f"{number}.parquet", graphs[number * ROWS : (number + 1) * ROWS])
    return folder


@pytest.fixture
def python_of_workers(monkeypatch):
    """Spark's workers take this Python, not the first one of the path."""
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)


def killed_once(function, flag):
    """``function``, but the process that gets the graph with id 50 first is killed before it answers."""

    def call(batch):
        ids = batch.column("id").to_pylist() if isinstance(batch, pa.Table) else list(batch["id"])
        if 50 in ids and not Path(flag).exists():
            Path(flag).write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        return function(batch)

    return call


def bits(ids, vectors):
    """Every graph's vector, to the last bit, in the order of ids."""
    return sorted((int(own), [float(value).hex() for value in vector]) for own, vector in zip(ids, vectors, strict=True))


def single_process(function, lake, column="embedding"):
    table = function(dataset.dataset(lake).to_table())
    return bits(table.column("id").to_pylist(), table.column(column).to_pylist())


@pytest.mark.clusters
def test_ray_loses_and_doubles_nothing_where_a_worker_is_killed(model, lake, tmp_path):
    ray = pytest.importorskip("ray", reason="the extra 'ray' is not installed")
    data = pytest.importorskip("ray.data", reason="the extra 'ray' is not installed")
    function, flag = embed_batches(model), tmp_path / "killed"
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    try:
        data.DataContext.get_current().enable_progress_bars = False
        graphs = data.read_parquet(str(lake), override_num_blocks=FILES)
        rows = graphs.map_batches(killed_once(function, flag), batch_format="pyarrow", batch_size=ROWS, num_cpus=1).take_all()
    finally:
        ray.shutdown()
    assert flag.exists()
    assert bits([row["id"] for row in rows], [row["embedding"] for row in rows]) == single_process(function, lake)


@pytest.mark.clusters
def test_dask_loses_and_doubles_nothing_where_a_worker_is_killed(model, lake, tmp_path):
    distributed = pytest.importorskip("distributed", reason="the extra 'scale' is not installed")
    frames = pytest.importorskip("dask.dataframe", reason="the extra 'scale' is not installed")
    function, flag = embed_batches(model), tmp_path / "killed"
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path))
    with cluster, distributed.Client(cluster, set_as_default=True):
        frame = frames.read_parquet(lake)
        done = frame.map_partitions(killed_once(function, flag), meta=function(frame._meta)).compute()
    assert flag.exists()
    assert bits(done["id"], done["embedding"]) == single_process(function, lake)


def test_dask_takes_predictions_without_a_cluster(model, lake):
    frames = pytest.importorskip("dask.dataframe", reason="the extra 'scale' is not installed")
    predict, frame = predict_batches(model), frames.read_parquet(lake)
    done = frame.map_partitions(predict, meta=predict(frame._meta)).compute(scheduler="threads")
    assert bits(done["id"], done["probabilities"]) == single_process(predict, lake, "probabilities")


@pytest.mark.clusters
@pytest.mark.spark
@pytest.mark.usefixtures("python_of_workers")
def test_spark_loses_and_doubles_nothing_where_a_worker_is_killed(model, lake, tmp_path):
    sql = pytest.importorskip("pyspark.sql")
    function, flag = embed_batches(model), tmp_path / "killed"
    builder = sql.SparkSession.builder.master("local[2, 3]").config("spark.ui.enabled", "false")
    spark = (
        builder.config("spark.sql.files.maxPartitionBytes", "4096").config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
    )
    try:
        frame = spark.read.parquet(str(lake)).select("id", "n_nodes", "sources", "targets")
        call = killed_once(function, str(flag))
        done = frame.mapInPandas(lambda batches: map(call, batches), "id long, n_nodes int, embedding array<float>").collect()
    finally:
        spark.stop()
    assert flag.exists()
    assert bits([row.id for row in done], [row.embedding for row in done]) == single_process(function, lake)


@pytest.mark.clusters
@pytest.mark.spark
@pytest.mark.usefixtures("python_of_workers")
def test_what_the_page_shows_of_clusters_works(model, lake, tmp_path, monkeypatch):
    for name in ("ray", "dask.dataframe"):
        pytest.importorskip(name)
    monkeypatch.chdir(tmp_path)
    Path("mymodel").symlink_to(model)
    monkeypatch.setenv("RAY_DATA_DISABLE_PROGRESS_BARS", "1")
    blocks = re.findall(r"^```py\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    Path("page.py").write_text("\n".join([*blocks, "spark.stop()", "ray.shutdown()"]))
    subprocess.run([sys.executable, "page.py"], check=True)  # a Java that runs already would write to another folder
    counts = {
        name: dataset.dataset(name, format="parquet").count_rows() for name in ("ray-vectors", "dask-answers", "spark-vectors")
    }
    assert set(counts.values()) == {FILES * ROWS}
    assert sum(read_graphs(part).n_nodes for part in Path("spark").glob("*.parquet")) == 6
