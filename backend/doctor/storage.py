"""Checks the database: its replica set, its clock and its indexes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import timedelta

from backend.doctor.background import readable
from backend.doctor.disks import examine_mongodb_disk
from backend.domain.finding import Area, Finding, Findings
from backend.settings import Settings
from backend.storage.accounts.deleted_organizations import deletion_items
from backend.storage.clicks.blocks import count_unreadable_blocks
from backend.storage.clicks.summaries import count_unreadable_summaries
from backend.storage.driver.disk import read_disk
from backend.storage.driver.mongo import Database, StorageError
from backend.storage.lifecycle.inspection import (
    Difference,
    IndexDifference,
    ServerState,
    compare_indexes,
    read_server_state,
)
from backend.storage.lifecycle.shard_keys import find_other_shard_keys
from backend.system.clock import Clock

_findings = Findings(Area.STORAGE)
_OLDEST_VERSION = 6
_NOTICEABLE_CLOCK_DIFFERENCE = timedelta(seconds=1)
# With a larger difference, rate limits, subscriptions and the order of clicks go wrong.
_LARGE_CLOCK_DIFFERENCE = timedelta(seconds=30)


def unreachable(reason: str) -> Finding:
    """The finding that the database can't be opened."""
    return _findings.error(
        "MongoDB", reason, "Start MongoDB, and check WAYLINK_MONGODB_URI and who may connect from here."
    )


async def examine_storage(database: Database, settings: Settings, clock: Clock) -> AsyncIterator[Finding]:
    """Findings on the database server and its indexes. Raises StorageError."""
    state = await read_server_state(database, clock)
    yield _examine_version(state)
    if state.is_router:
        async for finding in examine_cluster(database):
            yield finding
    else:
        for finding in _examine_replica_set(state, settings):
            yield finding
    if disk := await read_disk(database):
        yield examine_mongodb_disk(disk)
    yield examine_clock(state.ahead)
    differences = [difference async for difference in compare_indexes(database)]
    for difference in differences:
        yield _about_index(difference)
    if unreadable := await count_unreadable_blocks(database):
        yield _findings.error(
            "clicks",
            f"{unreadable:,} blocks of clicks can't be read: their clicks are in no export and in no count.",
            "They were damaged, or stored by a newer version: look at the disk of MongoDB, and keep them.",
        )
    if unreadable := await count_unreadable_summaries(database):
        yield _findings.error(
            "clicks",
            f"{unreadable:,} summaries of days whose single clicks have expired can't be read: their clicks "
            "are in no count.",
            "They were damaged, or stored by a newer version: look at the disk of MongoDB, and keep them.",
        )
    if not any(difference.difference is not Difference.UNKNOWN for difference in differences):
        yield _findings.ok("indexes", "Every declared index is there, as declared.")
    deletions, unreadable_deletions = readable(await deletion_items(database))
    for finding in unreadable_deletions:
        yield finding
    for deletion in deletions:
        yield _findings.info(
            deletion.org_id,
            f"Its deletion, begun on {deletion.begun_at:%Y-%m-%d %H:%M}, is not finished.",
            f"Let the service run: it ends it within minutes. So does `waylink organization delete --org "
            f"{deletion.org_id}`.",
        )


async def examine_cluster(database: Database) -> AsyncIterator[Finding]:
    """Findings on how a sharded cluster distributes collections."""
    try:
        others = await find_other_shard_keys(database)
    except StorageError as error:
        yield _findings.info(
            "cluster",
            f"How it is sharded can't be read: {error}",
            "Grant this user clusterMonitor to have it examined.",
        )
        return
    for other in others:
        declared = "stay whole" if other.declared is None else f"be by {dict(other.declared)}"
        yield _findings.warning(
            other.collection,
            f"It is sharded by {dict(other.actual)}, and made to {declared}.",
            'Queries may ask all shards, or rules of uniqueness fail: see "Growing" in docs/operations.md.',
        )
    if not others:
        yield _findings.ok("cluster", "Its sharded collections have the keys that they are made for.")


def _examine_version(state: ServerState) -> Finding:
    if int(state.version.split(".")[0]) < _OLDEST_VERSION:
        return _findings.error(
            "MongoDB", f"Its version is {state.version}.", f"Upgrade it to {_OLDEST_VERSION}.0 or newer."
        )
    return _findings.ok("MongoDB", f"Version {state.version} answers.")


def _examine_replica_set(state: ServerState, settings: Settings) -> Iterator[Finding]:
    if state.set_name is None:
        yield _findings.error(
            "replica set",
            "The server is no member of one: transactions and change streams do not work.",
            "Start mongod with --replSet and run rs.initiate(); one member is enough.",
        )
        return
    members = state.members
    if members is None:
        yield _findings.info(
            "replica set",
            "This user may not ask for its members.",
            "Grant it clusterMonitor to have them examined.",
        )
        return
    for member in members:
        if not member.is_healthy:
            yield _findings.warning(
                member.name,
                f"This member of the replica set is {member.state}.",
                "Look at its log, and bring it back: writes wait for a majority.",
            )
    yield _about_size(len(members), settings)


def _about_size(members: int, settings: Settings) -> Finding:
    if members > 1:
        return _findings.ok("replica set", f"It has {members} members.")
    advice = "Use a replica set of three machines, or keep backups elsewhere."
    if settings.mongodb_uri is None:
        return _findings.info("replica set", "The service runs a MongoDB of its own, without a copy.", advice)
    return _findings.warning("replica set", "It has one member: there is no copy of the data.", advice)


def examine_clock(ahead: timedelta) -> Finding:
    """Whether the database server's clock agrees with this machine's.

    `ahead` is how far it is ahead (negative: behind).
    """
    seconds = abs(ahead).total_seconds()
    side = "ahead of" if ahead > timedelta() else "behind"
    message = f"The server's clock is {seconds:.1f} s {side} this machine's."
    if abs(ahead) < _NOTICEABLE_CLOCK_DIFFERENCE:
        return _findings.ok("clock", message)
    make = _findings.error if abs(ahead) > _LARGE_CLOCK_DIFFERENCE else _findings.warning
    return make("clock", message, "Let NTP set the clocks of both machines.")


def _about_index(difference: IndexDifference) -> Finding:
    subject = f"{difference.collection}.{difference.index}"
    if difference.difference is Difference.UNKNOWN:
        return _findings.info(subject, "This index is not one of ours.", "It costs a little at each write.")
    make = _findings.error if difference.is_unique else _findings.warning
    if difference.difference is Difference.MISSING:
        return make(subject, "This index is missing.", "Start the service once: it creates what is missing.")
    return make(
        subject,
        "This index is not as declared; the service can't start with it.",
        f'Drop it (db.{difference.collection}.dropIndex("{difference.index}")) and start the service, '
        "which creates it anew.",
    )
