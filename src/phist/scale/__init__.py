"""Graphs by the million: streams into sharded Parquet, and functions for Ray, Dask and Spark (docs/scale.md)."""
