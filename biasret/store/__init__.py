"""DuckDB over the Parquet files: every line of SQL is in this package."""

from biasret.store.database import DATABASE, make_database
from biasret.store.moved import ORDERS, Cells
from biasret.store.reading import Store

__all__ = ["DATABASE", "ORDERS", "Cells", "Store", "make_database"]
