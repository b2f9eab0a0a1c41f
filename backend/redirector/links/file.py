"""A file with the most used links, so that they redirect even if the service starts without the database.

The links were current when the file was written. They are used only if the database does not answer, and only
for a limited time. The file says up to when it has all changes, so that one can ask for those since. A file
that is incomplete, changed or from another database is ignored.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from backend.domain.accounts.apps import AndroidApp, Apps, IosApp
from backend.domain.domains.settings import NO_SETTINGS, LinkDomain
from backend.domain.ids import OrgId
from backend.domain.links.limits import LIMIT_TIMES, NO_LIMITS, LinkLimits
from backend.domain.links.links import NOT_FOR_REDIRECTS, Behavior, CreatedBy, Hold, Link, QueryPrecedence
from backend.storage.accounts.domain_settings import from_plain, to_plain
from backend.storage.links.changes import ClusterTime

# The largest size of the file.
MOST_LINKS = 10_000
_MOST_FILE_BYTES = 16_000_000
_MOST_DOMAIN_BYTES = 4_000_000
_FORMAT = 2
_UNREADABLE_BY_OTHERS = 0o077
_logger = logging.getLogger(__name__)
LinkAndApps = tuple[Link, Apps]
ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")
_NO_DOMAINS: Mapping[str, LinkDomain] = {}
# An archived link is not enabled, which is all that redirects need to know of it.
_NOT_NEEDED = frozenset(
    {"created_at", "modified_at", "imported_clicks", "tag_ids", "archived_at", "was_enabled"}
    | NOT_FOR_REDIRECTS.keys()
)


@dataclass(frozen=True, slots=True)
class KeptLinks:
    """Links with their domains' apps, which have all changes up to the `cluster_time`, if that is known, and
    the link domains that have settings."""

    links: list[LinkAndApps] = field(default_factory=list)
    cluster_time: ClusterTime | None = None
    domains: dict[str, LinkDomain] = field(default_factory=dict)


def path_in(data_dir: Path) -> Path:
    """The path of the file. If it exists, the service has run here before."""
    return data_dir / "links.cache"


def hosts_in(uri: str | None) -> str:
    """The hosts in a MongoDB URI, without passwords, also those in its options; "" for our own server."""
    return (uri or "").partition("://")[2].partition("/")[0].rpartition("@")[2].partition("?")[0]


class LinkFile:
    """A file of links with their domains' apps. `database` names the database that they come from."""

    def __init__(self, path: Path, database: str, longest_use: timedelta) -> None:
        self._path = path
        self._database = database
        self._longest_use = longest_use

    def write(
        self,
        links: Iterable[LinkAndApps],
        now: datetime,
        cluster_time: ClusterTime | None = None,
        domains: Mapping[str, LinkDomain] = _NO_DOMAINS,
    ) -> None:
        """Replace the file, completely or not at all. The links have all changes up to the `cluster_time`.

        If there are too many links or domains, the first ones are kept. One that can't be written is left
        out.
        """
        body = _domain_lines(domains)
        for number, line in enumerate(_each(_line, links)):
            if number == MOST_LINKS or len(body) + len(line) > _MOST_FILE_BYTES:
                break
            body += line
        head = {
            "format": _FORMAT,
            "database": self._database,
            "written_at": now.isoformat(),
            "cluster_time": cluster_time,
            "sha256": hashlib.sha256(body).hexdigest(),
        }
        self._replace(json.dumps(head).encode() + b"\n" + body)

    def _replace(self, content: bytes) -> None:
        unfinished = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        try:
            with os.fdopen(os.open(unfinished, flags, 0o600), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(self._path)
        except OSError:
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)
            raise

    def read(self, now: datetime) -> KeptLinks:
        """The content of the file; empty if there is no file, or if it must not be used, which is logged."""
        if not self._longest_use:
            return KeptLinks()
        try:
            return self._read(now)
        except FileNotFoundError:
            return KeptLinks()
        except (OSError, ValueError, KeyError, TypeError) as error:
            _logger.warning("The file of links %s is not used: %s", self._path, error)
            return KeptLinks()

    def _read(self, now: datetime) -> KeptLinks:
        with self._path.open("rb") as file:
            if os.fstat(file.fileno()).st_mode & _UNREADABLE_BY_OTHERS:
                raise ValueError("others than its owner may read or write it")
            head, body = json.loads(file.readline(10_000)), file.read(_MOST_FILE_BYTES + 1)
        if head["format"] != _FORMAT or head["database"] != self._database:
            raise ValueError("it is of another version, or of another database")
        if head["sha256"] != hashlib.sha256(body).hexdigest():
            raise ValueError("it is not what was written")
        if not timedelta() <= now - datetime.fromisoformat(head["written_at"]) <= self._longest_use:
            raise ValueError("it is too old, or from the future")
        lines = [json.loads(line) for line in body.splitlines()]
        links = [*_each(_link_and_apps, (line for line in lines if isinstance(line, list)))]
        domains = dict(_each(_domain, (line for line in lines if isinstance(line, dict))))
        stored = head["cluster_time"]
        cluster_time = (int(stored[0]), int(stored[1])) if stored else None
        return KeptLinks(links, cluster_time, domains)


def _each(do: Callable[[ItemT], ResultT], items: Iterable[ItemT]) -> Iterator[ResultT]:
    """The results, without those of items for which it can't be done: the file is that of all."""
    for item in items:
        try:
            yield do(item)
        except Exception as error:
            _logger.warning("The file of links is without one: %r", error)


def _line(link_and_apps: LinkAndApps) -> bytes:
    link, apps = link_and_apps
    return json.dumps([_plain(link), asdict(apps)]).encode() + b"\n"


def _domain_lines(domains: Mapping[str, LinkDomain]) -> bytearray:
    """A line for each domain that has settings, as many as fit."""
    lines = bytearray()
    for line in _each(_domain_line, domains.items()):
        lines += line
        if len(lines) > _MOST_DOMAIN_BYTES:
            break
    return lines


def _domain_line(named: tuple[str, LinkDomain]) -> bytes:
    name, domain = named
    settings = domain.settings is not NO_SETTINGS and to_plain(domain.settings)
    line = {"domain": name, "org_id": domain.org_id, "settings": settings}
    return json.dumps(line).encode() + b"\n" if settings else b""


def _domain(line: dict[str, Any]) -> tuple[str, LinkDomain]:
    return line["domain"], LinkDomain(OrgId(line["org_id"]), from_plain(line["settings"]))


def _plain(link: Link) -> dict[str, Any]:
    """The link's fields as JSON values, without those that redirects don't need."""
    fields = asdict(replace(link, custom_data=None, link_name=""))
    fields["limits"] = _plain_limits(link.limits)
    fields["hold"] = bool(link.hold)
    return {name: value for name, value in fields.items() if name not in _NOT_NEEDED}


def _plain_limits(limits: LinkLimits) -> dict[str, Any]:
    """The limits that are set, with their times as seconds."""
    values = limits.by_name
    return values | {name: values[name].timestamp() for name in LIMIT_TIMES if name in values}


def _read_limits(plain: dict[str, Any]) -> LinkLimits:
    times = {name: datetime.fromtimestamp(plain[name], UTC) for name in LIMIT_TIMES if name in plain}
    return LinkLimits(**plain | times) if plain else NO_LIMITS


def _link_and_apps(line: list[dict[str, Any]]) -> LinkAndApps:
    fields, apps = line
    fields["ios_behavior"] = Behavior(fields["ios_behavior"])
    fields["android_behavior"] = Behavior(fields["android_behavior"])
    fields["created_by"] = CreatedBy(fields["created_by"])
    if precedence := fields.get("query_precedence"):
        fields["query_precedence"] = QueryPrecedence(precedence)
    fields["limits"] = _read_limits(fields.get("limits", {}))
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    fields["hold"] = Hold(epoch, "") if fields.get("hold") else None
    ios, android = apps["ios"], apps["android"]
    if android:
        android["fingerprints"] = tuple(android["fingerprints"])
    return (
        Link(**fields, created_at=epoch, modified_at=epoch),
        Apps(
            IosApp(**ios) if ios else None,
            AndroidApp(**android) if android else None,
            apps.get("in_app_page", False),
        ),
    )
