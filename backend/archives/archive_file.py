"""The archive file of an organization: a header, one line for each document, and a last line to check them.

Each line is a JSON object. The header names the format, its version and the organization. The last line
contains the number of documents of each collection and the SHA-256 of everything before it: so a reader
recognizes a file that was cut off or changed.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, BinaryIO, Literal, Protocol

from backend.domain.accounts.organizations import parse_days
from backend.domain.errors import OperatorError
from backend.domain.fields.rules import Flag, is_uuid
from backend.domain.ids import OrgId
from backend.storage.driver.extended_json import from_json, to_json
from backend.storage.driver.mongo import Document
from backend.storage.lifecycle.archive_context import ArchiveContext
from backend.storage.lifecycle.collections import ArchivedCollection, archived_collections

FORMAT = "waylink-organization"
VERSION = 3
# A document of MongoDB has at most 16 MiB. Written as a line, bytes take a third more, and texts up to twice
# as much, where each of their characters is a quotation mark.
LONGEST_LINE = 2 * 16 * 1024 * 1024
_END = b'{"counts":'


class UnreadableArchive(OperatorError):
    """The file can't be restored. The message says why."""


class ArchiveSource(Protocol):
    """Where an archive is: a path, or another place with a name that can be opened as one."""

    def open(self, mode: Literal["rb"]) -> BinaryIO:
        """The archive, from its beginning."""


class RefusedArchive(UnreadableArchive):
    """The file contains documents that are not valid. The message lists them."""

    def __init__(self, problems: Sequence[str], total: int) -> None:
        more = f"\n  and {total - len(problems)} more" if total > len(problems) else ""
        super().__init__(
            "The file holds what this service would not take as new. Correct it where the file was exported, "
            "and export again:" + "".join(f"\n  {problem}" for problem in problems) + more
        )


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of an archive: whose archive it is, and when it was exported.

    `click_days` is for how many days the organization kept single clicks then; None means without limit.
    Without credentials, its members set new passwords once it is restored.
    """

    org_id: OrgId
    name: str
    exported_at: datetime
    click_days: int | None
    has_credentials: bool


@dataclass(frozen=True, slots=True)
class Entry:
    """A document of the file, its collection, the number and bytes of its line, and the position after it.

    Line numbers start where reading started.
    """

    collection: str
    document: Document
    line: int
    size: int
    end: int


@dataclass(slots=True)
class ArchiveWriter:
    """Writes an archive file line by line."""

    file: BinaryIO
    counts: Counter[str] = field(default_factory=Counter)
    digest: Any = field(default_factory=hashlib.sha256)

    def write_header(self, header: Header) -> None:
        """Write the first line."""
        head: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "org_id": header.org_id,
            "name": header.name,
            "click_days": header.click_days,
            "has_credentials": header.has_credentials,
            "exported_at": header.exported_at.isoformat(timespec="seconds"),
        }
        self._write(json.dumps(head))

    def write_document(self, collection: str, document: Document) -> None:
        """Write the line for a document of this collection."""
        self._write(f'{{"collection":"{collection}","document":{to_json(document)}}}')
        self.counts[collection] += 1

    def write_end(self) -> None:
        """Write the last line, with the counts and the checksum."""
        counts = {name: self.counts[name] for name in archived_collections()}
        self._write(json.dumps({"counts": counts, "sha256": self.digest.hexdigest()}))

    def _write(self, line: str) -> None:
        encoded = line.encode() + b"\n"
        if len(encoded) > LONGEST_LINE:
            raise UnreadableArchive(
                f"A document takes {len(encoded):,} bytes, and {LONGEST_LINE:,} are the most."
            )
        self.digest.update(encoded)
        self.file.write(encoded)


def read_header(path: ArchiveSource) -> Header:
    """The first line of the file. Raises UnreadableArchive."""
    with path.open("rb") as file:
        head = _object(_line(file, 1), 1)
    if head.get("format") != FORMAT:
        raise UnreadableArchive(f"{path} is not an archive that `waylink export` wrote.")
    if head.get("version") != VERSION:
        raise UnreadableArchive(
            f"{path} has the format version {head.get('version')}; this Waylink reads {VERSION}."
        )
    org_id = head.get("org_id")
    # Ids of the organization's documents begin with it: it must not be the beginning of another's.
    if not isinstance(org_id, str) or not is_uuid(org_id) or org_id != org_id.lower():
        raise UnreadableArchive(f"{path} does not name its organization.")
    try:
        exported_at = datetime.fromisoformat(head["exported_at"])
        days = head["click_days"]
        click_days = None if days is None else parse_days(str(days))
        has_credentials = Flag().parse("has_credentials", head["has_credentials"])
    except (KeyError, ValueError, TypeError):
        raise UnreadableArchive(f"{path} does not say when it was exported, or what is in it.") from None
    return Header(OrgId(org_id), str(head.get("name")), exported_at, click_days, has_credentials)


def read_entries(path: ArchiveSource, header: Header, start: int = 0) -> Iterator[Entry]:
    """The documents whose lines start at byte `start` or later; 0 means all of them."""
    collections = archived_collections()
    with path.open("rb") as file:
        file.seek(start)
        if start == 0:
            _line(file, 1)
        for number, line in _lines(file):
            if line.startswith(_END):
                return
            owned = _owned_document(line, number, header, collections)
            yield Entry(*owned, number, len(line), file.tell())


@dataclass(frozen=True, slots=True)
class Contents:
    """What a whole file contains.

    The number of documents of each collection, what they may refer to, and the file's SHA-256.
    """

    counts: Counter[str]
    context: ArchiveContext
    fingerprint: str


def check_whole(
    path: ArchiveSource, header: Header, now: datetime, advance: Callable[[int], object]
) -> Contents:
    """Read and check the whole file. Raises UnreadableArchive.

    `now` is passed on to the rules of its documents. `advance` is called with the number of bytes read since
    its last call.
    """
    digest, counts, last = hashlib.sha256(), Counter[str](), -1
    context = ArchiveContext(header.org_id, now)
    collections = archived_collections()
    order = {name: number for number, name in enumerate(collections)}
    with path.open("rb") as file:
        digest.update(_line(file, 1))
        for number, line in _lines(file):
            if line.startswith(_END):
                expected = {name: counts[name] for name in collections}
                _check_end(_object(line, number), expected, digest.hexdigest(), file.read(1))
                digest.update(line)
                return Contents(counts, context, digest.hexdigest())
            collection, document = _owned_document(line, number, header, collections)
            context.add(collection, document)
            if order[collection] < last:
                raise UnreadableArchive(f"Line {number} is out of order.")
            last = order[collection]
            counts[collection] += 1
            digest.update(line)
            advance(len(line))
    raise UnreadableArchive(f"{path} is cut off: its last line, with the counts, is missing.")


def _lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The remaining lines of the file. The result counts as everything after the header."""
    number = 2
    while line := _line(file, number):
        yield number, line
        number += 1


def _line(file: BinaryIO, number: int) -> bytes:
    """The next line; nothing at the end of the file. Raises UnreadableArchive if no document is so long."""
    line = file.readline(LONGEST_LINE + 1)
    if len(line) > LONGEST_LINE:
        raise UnreadableArchive(f"Line {number} has more than {LONGEST_LINE:,} bytes, as no document has.")
    return line


def _check_end(end: dict[str, Any], counts: dict[str, int], digest: str, rest: bytes) -> None:
    if rest:
        raise UnreadableArchive("There is something behind the line with the counts.")
    stored_counts = end.get("counts")
    # Collections that are newer than the file are not among its counts.
    is_whole = isinstance(stored_counts, dict) and dict.fromkeys(counts, 0) | stored_counts == counts
    if not is_whole or end.get("sha256") != digest:
        raise UnreadableArchive("The file is not as it was written: counts or SHA-256 do not match.")
    if counts["organizations"] != 1:
        raise UnreadableArchive("The file does not hold its organization.")


def _owned_document(
    line: bytes, number: int, header: Header, collections: Mapping[str, ArchivedCollection]
) -> tuple[str, Document]:
    try:
        line_fields = from_json(line.decode())
        archived, document = collections[line_fields["collection"]], line_fields["document"]
        is_owned = archived.owned_by.is_owned(document, header.org_id)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UnreadableArchive(f"Line {number} is not a document of a collection that is known.") from None
    if not is_owned:
        raise UnreadableArchive(f"Line {number} does not belong to the organization {header.org_id}.")
    return archived.name, document


def _object(line: bytes, number: int) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise UnreadableArchive(f"Line {number} is not a JSON object.")
    return value
