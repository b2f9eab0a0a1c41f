"""The `apps` collection: the mobile apps of each link domain."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pymongo import IndexModel

from backend.domain.accounts.apps import AndroidApp, Apps, IosApp
from backend.domain.ids import OrgId
from backend.storage.accounts import domains
from backend.storage.driver.mongo import ClientSession, Database, in_transaction, known_fields
from backend.storage.schema.audited import Audited
from backend.storage.schema.collection import Collection, NoRetention, NotPersonal, NotSharded, Stage
from backend.storage.schema.own_documents import existing
from backend.storage.schema.ownership import ByField

NAME = "apps"
COLLECTION = Collection(
    name=NAME,
    indexes=[IndexModel([("org_id", 1), ("_id", 1)])],
    owned_by=ByField(),
    personal=NotPersonal("the organization made it, and its own people delete it"),
    retention=NoRetention("the organization made it, and its own people delete it"),
    archived=Stage.SETUP,
    shard_key=NotSharded("one small document a domain"),
    audited=Audited(kind="app", name="_id"),
)


async def set_apps(database: Database, domain: str, org_id: OrgId, apps: Apps) -> None:
    """Store the apps of the organization's domain; they replace earlier ones.

    Raises ItemUnknown if the domain is not the organization's any more, or is being removed: whoever has it
    then would have these apps. A removal waits until what read the domain before it has ended.
    """
    own = {"_id": domain, "org_id": org_id}

    async def work(session: ClientSession) -> None:
        staying = own | {"is_leaving": {"$ne": True}}
        existing(await database[domains.NAME].find_one(staying, {"_id": 1}, session=session))
        await database[NAME].replace_one(own, to_document(apps, org_id), upsert=True, session=session)

    await in_transaction(database, work)


async def find_apps(database: Database, domain: str) -> Apps:
    """The apps of a domain; `Apps()` if it has none."""
    document = await database[NAME].find_one({"_id": domain})
    return from_document(document) if document else Apps()


async def list_apps(database: Database, org_id: OrgId) -> dict[str, Apps]:
    """The apps of each of the organization's domains that has any, by domain."""
    cursor = database[NAME].find({"org_id": org_id}).sort("_id", 1)
    return {document["_id"]: from_document(document) async for document in cursor}


def to_document(apps: Apps, org_id: OrgId) -> dict[str, Any]:
    """The stored form of a domain's apps, without the domain. What older versions lack, is there if set."""
    android = (
        {"package": apps.android.package, "fingerprints": list(apps.android.fingerprints)}
        if apps.android
        else None
    )
    ios = asdict(apps.ios) if apps.ios else None
    if ios and ios["custom_scheme"] is None:
        del ios["custom_scheme"]
    for page in ("clipboard_page", "mail_page"):
        if ios and not ios[page]:
            del ios[page]
    in_app_page = {"in_app_page": True} if apps.in_app_page else {}
    return {"org_id": org_id, "ios": ios, "android": android, **in_app_page}


def from_document(document: dict[str, Any]) -> Apps:
    """The apps in a stored document. Raises InvalidApp."""
    ios, android = document["ios"], document["android"]
    return Apps(
        IosApp(**known_fields(ios, IosApp)) if ios else None,
        AndroidApp(android["package"], tuple(android["fingerprints"])) if android else None,
        document.get("in_app_page") is True,
    )
