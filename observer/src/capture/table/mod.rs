//! Exchange logs: Parquet and CSV.
