"""Prepares the service's own mongod for clients: waits for its answer, and makes it the primary."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pymongo import MongoClient
from pymongo.errors import AutoReconnect, OperationFailure, PyMongoError

from backend.storage.embedded.mongod_process import REPLICA_SET, MongoDBNotFound

START_TIMEOUT = 60.0  # seconds; recovery after a crash replays the journal
# MongoDB's error codes.
_NOT_YET_INITIALIZED = 94
_ALREADY_INITIALIZED = 23
# Every mongod with a key file has this user, whose password is the content of the file. So no user has to be
# made first, and none is lost if the database is replaced by a copy.
_USER = "__system"
_USERS_DATABASE = "local"


@dataclass(frozen=True, slots=True)
class MongodAdmin:
    """Access to the server on a port of this machine, with its key."""

    port: int
    key: str

    @property
    def uri(self) -> str:
        """The address for clients, with the password and the name of the replica set."""
        return (
            f"mongodb://{_USER}:{self.key}@127.0.0.1:{self.port}/"
            f"?replicaSet={REPLICA_SET}&authSource={_USERS_DATABASE}"
        )

    def is_primary(self) -> bool | None:
        """Whether the server accepts writes; None if it does not answer now, or does not accept the key."""
        try:
            with self._connect() as admin:
                return bool(admin.command("hello").get("isWritablePrimary"))
        except PyMongoError:
            return None

    def make_primary(self) -> None:
        """Make the server the primary of its replica set, and wait until it accepts writes.

        A new replica set is created, or the port of an existing one is updated. The server closes its
        connections whenever its role changes, so each step may need several tries. Raises MongoDBNotFound.
        """
        deadline = time.monotonic() + START_TIMEOUT
        while not self.is_primary():
            if time.monotonic() > deadline:
                raise MongoDBNotFound(
                    f"the MongoDB server did not become primary within {START_TIMEOUT:.0f} s"
                )
            with contextlib.suppress(AutoReconnect), self._connect() as admin:
                _configure_replica_set(admin, f"127.0.0.1:{self.port}")
            time.sleep(0.05)

    @contextlib.contextmanager
    def _connect(self) -> Iterator[Any]:
        client: MongoClient[dict[str, Any]] = MongoClient(
            "127.0.0.1",
            self.port,
            username=_USER,
            password=self.key,
            authSource=_USERS_DATABASE,
            directConnection=True,
            serverSelectionTimeoutMS=500,
            connectTimeoutMS=2000,
            socketTimeoutMS=5000,
        )
        try:
            yield client.admin
        finally:
            client.close()


def _configure_replica_set(admin: Any, member: str) -> None:
    try:
        config = admin.command("replSetGetConfig")["config"]
    except OperationFailure as error:
        if error.code == _NOT_YET_INITIALIZED:
            _initiate(admin, {"_id": REPLICA_SET, "members": [{"_id": 0, "host": member}]})
        return
    if config["members"][0]["host"] != member:
        config["members"][0]["host"] = member
        config["version"] += 1
        admin.command("replSetReconfig", config, force=True)


def _initiate(admin: Any, config: dict[str, Any]) -> None:
    try:
        admin.command("replSetInitiate", config)
    except OperationFailure as error:
        # A process that was killed may have sent the same command before.
        if error.code != _ALREADY_INITIALIZED:
            raise
