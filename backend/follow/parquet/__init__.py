"""Parquet files as a target."""
