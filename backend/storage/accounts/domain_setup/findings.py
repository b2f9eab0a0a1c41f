"""The `domain_findings` collection: what was found about domains when they were looked at last."""

from __future__ import annotations

from collections.abc import Collection as Names
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from backend.domain.domains.claims import KEPT
from backend.domain.finding import Area, Finding, SetupStep, Severity
from backend.domain.ids import OrgId
from backend.storage.driver.mongo import Database, Document
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import (
    EXPIRY_INDEX,
    Collection,
    NoRetention,
    NotArchived,
    NotPersonal,
    NotSharded,
)
from backend.storage.schema.ownership import ByIdPrefix

NAME = "domain_findings"
COLLECTION = Collection(
    name=NAME,
    indexes=[EXPIRY_INDEX],
    owned_by=ByIdPrefix(field=None),
    personal=NotPersonal("it is about the organization's domains"),
    retention=NoRetention("gone a month after somebody looked at the domain"),
    archived=NotArchived("looked up anew where it is restored"),
    shard_key=NotSharded("one small document a domain"),
    audited=NotAudited("it is what was found, and no change by anybody"),
)


@dataclass(frozen=True, slots=True)
class KeptFindings:
    """What was found about a domain at a time. Those of a claim are about whose the domain is."""

    at: datetime
    findings: tuple[Finding, ...] = ()


async def keep_findings(
    database: Database, org_id: OrgId, domain: str, findings: Sequence[Finding], at: datetime
) -> KeptFindings:
    """Keep what was found, in the place of what was found before."""
    rows = [asdict(finding) for finding in findings]
    change = {"org_id": org_id, "domain": domain, "findings": rows, "at": at, "expires_at": at + KEPT}
    await database[NAME].update_one({"_id": f"{org_id}/{domain}"}, {"$set": change}, upsert=True)
    return KeptFindings(at, tuple(findings))


async def find_findings(database: Database, org_id: OrgId, domains: Names[str]) -> dict[str, KeptFindings]:
    """What was found last, by domain, of those of these domains that were looked at."""
    ids = [f"{org_id}/{domain}" for domain in domains]
    cursor = database[NAME].find({"_id": {"$in": ids}, "org_id": org_id})
    return {document["domain"]: _from_document(document) async for document in cursor}


async def forget_findings(database: Database, org_id: OrgId, domain: str) -> None:
    """Forget what was found about the domain."""
    await database[NAME].delete_one({"_id": f"{org_id}/{domain}", "org_id": org_id})


def _from_document(document: Document) -> KeptFindings:
    return KeptFindings(document["at"], tuple(map(_finding, document["findings"])))


def _finding(row: Document) -> Finding:
    return Finding(
        Severity(row["severity"]),
        Area(row["area"]),
        row["subject"],
        row["message"],
        row["advice"],
        SetupStep(row["step"]) if row["step"] else None,
    )
