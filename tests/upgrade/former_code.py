"""What version 0.1.0 stored, and its code."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from bson import json_util
from pymongo import IndexModel, MongoClient

ROOT = Path(__file__).parents[2]
# The code of version 0.1.0 in the history.
COMMIT = "4106ddd76bb9becdc9805d71bbc8088c4eae9234"
# Made by that code: an organization, its links k0 to k2 with these clicks that count, a visitor who bought
# something, an app and its install; then the indexes.
STORED = Path(__file__).with_name("version_0_1_0.jsonl")
CLICKS = [4, 5, 6]
ALL_CLICKS = 18  # with those of a crawler, which don't count
DOMAIN = "go.kites.example"


@dataclass(frozen=True, slots=True)
class FormerOrganization:
    """The organization in the stored data."""

    org_id: str
    rest_key: str
    web_key: str


def store(mongodb_uri: str, database: str) -> FormerOrganization:
    """Put the former version's data into an empty database, as if made today.

    Its counts stay on the day on which they were made: the day of its clicks has none.
    """
    head, *lines = STORED.read_text().splitlines()
    about = json.loads(head)
    later = timedelta(days=(datetime.now(UTC).date() - date.fromisoformat(about["made_on"])).days)
    with MongoClient[dict[str, Any]](mongodb_uri) as client:
        for line in lines:
            entry = json_util.loads(line)
            collection = client[database][entry["collection"]]
            if "index" in entry:
                rules = {name: value for name, value in entry["index"].items() if name not in {"v", "key"}}
                collection.create_indexes([IndexModel(list(entry["index"]["key"].items()), **rules)])
            else:
                collection.insert_one(_moved(entry["document"], later))
    return FormerOrganization(about["org_id"], about["keys"]["rest"], about["keys"]["web"])


def _moved(value: Any, by: timedelta) -> Any:
    """The value with its times moved; what expires would else be gone some day."""
    match value:
        case datetime():
            return value + by
        case dict():
            return {name: _moved(each, by) for name, each in value.items()}
        case list():
            return [_moved(each, by) for each in value]
    return value


def check_out(folder: Path) -> dict[str, str]:
    """Put the former version's code into the folder; the environment in which COMMAND runs it.

    Skips the test where the history lacks it.
    """
    git = subprocess.run(
        ["git", "-C", str(ROOT), "archive", COMMIT, "backend", "sdk_dist"], capture_output=True, check=False
    )
    if git.returncode:
        pytest.skip("the history lacks version 0.1.0, as in a shallow clone")
    subprocess.run(["tar", "-x", "-C", str(folder)], input=git.stdout, check=True)
    return {"PYTHONPATH": str(folder)}


# -P: else the folder of this version would come first.
COMMAND = (sys.executable, "-P", "-m", "backend.cli", "serve", "--json")
