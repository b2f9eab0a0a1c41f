"""The `refused_sign_ins` collection: the latest sign-ins through each organization's provider that failed."""

from __future__ import annotations

from datetime import datetime, timedelta

from backend.domain.accounts.single_sign_on.refusals import Refusal, RefusedSignIn, SignInRefused
from backend.domain.ids import OrgId
from backend.storage.driver.mongo import Database
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import (
    EXPIRY_INDEX,
    Collection,
    NoRetention,
    NotArchived,
    NotPersonal,
    NotSharded,
)
from backend.storage.schema.ownership import ById

NAME = "refused_sign_ins"
COLLECTION = Collection(
    name=NAME,
    indexes=[EXPIRY_INDEX],
    owned_by=ById(),
    personal=NotPersonal("the organization's own people, not visitors; gone within a month"),
    retention=NoRetention("gone a month after the last one"),
    archived=NotArchived("what was refused here is no matter of another service"),
    shard_key=NotSharded("one document an organization, of bounded size"),
    audited=NotAudited("whoever could not sign in changed nothing; sign-ins are recorded as sessions"),
)
_KEPT = 20
_DURATION = timedelta(days=30)


async def note_refusal(database: Database, org_id: OrgId, refused: SignInRefused, now: datetime) -> None:
    """Store a refused sign-in. Only the organization's latest ones are kept."""
    entry = {"refusal": refused.refusal, "detail": refused.detail, "email": refused.email, "at": now}
    pushed = {"recent": {"$each": [entry], "$slice": -_KEPT}}
    await database[NAME].update_one(
        {"_id": org_id}, {"$push": pushed, "$set": {"expires_at": now + _DURATION}}, upsert=True
    )


async def list_refusals(database: Database, org_id: OrgId) -> list[RefusedSignIn]:
    """The organization's latest refused sign-ins, newest first.

    Those with a reason that only a newer version of the service knows are left out.
    """
    document = await database[NAME].find_one({"_id": org_id}) or {}
    known = (entry for entry in reversed(document.get("recent", [])) if entry["refusal"] in set(Refusal))
    return [
        RefusedSignIn(Refusal(entry["refusal"]), entry["detail"], entry["email"], entry["at"])
        for entry in known
    ]
