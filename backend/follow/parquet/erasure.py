"""Deletes the rows of a person who was erased, in Parquet files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.follow.parquet.rows import ParquetRows

# The rows that name the person.
_OWN_ROWS = """
    list_contains($customers::VARCHAR[], customer_id)
    OR list_contains($devices::VARCHAR[], device_id)
    OR list_contains($installs::VARCHAR[], install_id)
    OR list_contains($emails_sha256::VARCHAR[], email_sha256)
    OR (type = 'identify'
        AND list_has_any(from_json(emails_sha256::JSON, '["VARCHAR"]'), $emails_sha256::VARCHAR[]))
"""
# The rows of a shared device in a period, without those that name a customer.
_SHARED_ROWS = """
    device_id = $device_id AND customer_id IS NULL
    AND ($from::TIMESTAMPTZ IS NULL OR "at" >= $from::TIMESTAMPTZ)
    AND ($to::TIMESTAMPTZ IS NULL OR "at" < $to::TIMESTAMPTZ)
"""
_REFUNDS = "type = 'refund' AND list_contains($sales::VARCHAR[], conversion_id)"
_LISTS = ("customers", "devices", "installs", "emails_sha256")


def erase(rows: ParquetRows, folder: Path, erased: Mapping[str, Any]) -> None:
    """Delete the rows of the person whom the data of an `erased` event names, below the folder.

    Refunds, which name nobody, go before the sales by which they are found: so an erasure that was
    interrupted is completed when it is run again.
    """
    _erase(rows, folder, _OWN_ROWS, {name: list(erased.get(name) or ()) for name in _LISTS})
    for shared in erased.get("shared_devices") or ():
        for time in shared["times"]:
            _erase(rows, folder, _SHARED_ROWS, {"device_id": shared["device_id"], **time})


def _erase(rows: ParquetRows, folder: Path, condition: str, parameters: Mapping[str, Any]) -> None:
    sales = rows.values(_files(folder), "conversion_id", f"type = 'conversion' AND ({condition})", parameters)
    if sales:
        of_sales = {"sales": sales}
        rows.delete(rows.having(_files(folder), _REFUNDS, of_sales), _REFUNDS, of_sales)
    rows.delete(rows.having(_files(folder), condition, parameters), condition, parameters)


def _files(folder: Path) -> Sequence[Path]:
    return sorted(folder.glob("day=*/*.parquet"))
