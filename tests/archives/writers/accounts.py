"""Writers of an organization, its people, keys, domains and receivers."""

from __future__ import annotations

import uuid

from hypothesis import strategies as st

from backend.domain.accounts.api_keys import NAME_RULE, KeyKind
from backend.domain.accounts.apps import AndroidApp, Apps, IosApp
from backend.domain.accounts.destination_rules import MOST_PATTERNS, RULE_FIELDS
from backend.domain.accounts.organizations import NAME_RULE as ORGANIZATION_NAME
from backend.domain.accounts.permissions import Permission
from backend.domain.accounts.reach.limited_to import MOST_NAMED
from backend.domain.accounts.reach.link_reach import LinkReach
from backend.domain.accounts.roles import Role
from backend.domain.accounts.second_factor.factor import SECRET_LENGTH, SecondFactor, recovery_hash
from backend.domain.accounts.second_factor.passkeys import MOST_PASSKEYS, Passkey
from backend.domain.accounts.second_factor.passkeys import NAME_RULE as PASSKEY_NAME
from backend.domain.accounts.single_sign_on.group_roles import (
    GROUP_RULE,
    MOST_GROUP_ROLES,
    GroupRole,
    GroupRoles,
)
from backend.domain.accounts.single_sign_on.provider import IdentityProvider
from backend.domain.accounts.users import User
from backend.domain.analytics.event_properties import MOST_MARKED, PropertyName
from backend.domain.domains.input import (
    BRAND_FIELDS,
    DOMAIN_FIELDS,
    LONGEST_ROBOTS,
    LONGEST_TITLE,
)
from backend.domain.domains.input import (
    LONGEST_TEXT as LONGEST_PAGE_TEXT,
)
from backend.domain.domains.settings import OwnText, PageLanguage
from backend.domain.fields.addresses.receiver_url import ReceiverUrl
from backend.domain.ids import LinkId, UserId
from backend.domain.webhooks.retries import LONGEST_ERROR
from backend.storage.accounts.api_keys import create_api_key
from backend.storage.accounts.apps import set_apps
from backend.storage.accounts.domain_settings import store_domain_settings
from backend.storage.accounts.organizations import (
    change_destination_rules,
    rename_organization,
    set_event_properties,
)
from backend.storage.accounts.origins import add_origin
from backend.storage.accounts.single_sign_on.settings import set_group_roles, set_provider
from backend.storage.accounts.users.second_factors import set_second_factor
from backend.storage.accounts.users.users import insert_user
from backend.storage.links.tags import list_tags
from backend.storage.webhooks.endpoints import create_endpoint, rotate_secret
from tests.archives.full_organization import PASSWORD_HASH
from tests.archives.longest import long_text, longest
from tests.archives.writers.place import Place


async def write_apps(place: Place) -> None:
    ios = IosApp("A1B2C3D4E5", "com." + "shop" * 30, "1234567890", clipboard_page=True)
    android = AndroidApp("com." + "shop" * 30, tuple(":".join([f"{n:02X}"] * 32) for n in range(9)))
    await set_apps(place.database, place.organization.domain, place.org_id, Apps(ios, android))


async def write_origins(place: Place) -> None:
    host = ".".join(["x" * 61] * 3 + [uuid.uuid4().hex])
    await add_origin(place.database, f"https://*.{host}:65535", place.org_id, place.now)


async def write_domains(place: Place) -> None:
    page = {
        "title": place.draw(long_text(LONGEST_TITLE, "xäß 日🪁")),
        "text": place.draw(long_text(LONGEST_PAGE_TEXT, "xä 日🪁")),
    }
    given = {
        "root_url": place.draw(longest(DOMAIN_FIELDS["root_url"])),
        "not_found_url": place.draw(longest(DOMAIN_FIELDS["not_found_url"])),
        "brand": {"name": place.draw(longest(BRAND_FIELDS["name"])), "color": "#1f5fbf"},
        "texts": {language: dict.fromkeys(OwnText, page) for language in PageLanguage},
        "robots_txt": place.draw(long_text(LONGEST_ROBOTS - 1, "xä日🪁")),
        "forwards_path": True,
    }
    settings = {name: DOMAIN_FIELDS[name].parse(name, value) for name, value in given.items()}
    await store_domain_settings(place.database, place.org_id, place.organization.domain, settings)


async def write_webhooks(place: Place) -> None:
    link = await place.link()
    fields = {"url": place.draw(longest(ReceiverUrl())), "link_ids": (link.id,), "is_enabled": False}
    endpoint = await create_endpoint(place.database, place.org_id, fields, place.now)
    for _ in range(5):
        await rotate_secret(place.database, place.org_id, endpoint.id, place.now)
    failed = {"last_error": place.draw(long_text(LONGEST_ERROR)), "failing_since": place.now}
    await place.database["webhooks"].update_one({"_id": endpoint.id}, {"$set": failed})


async def write_api_keys(place: Place) -> None:
    links = tuple(LinkId(str(uuid.uuid4())) for _ in range(MOST_NAMED))
    await place.post("tags", {"name": "Spring"})
    tags = tuple(tag.id for tag in await list_tags(place.database, place.org_id))
    reach = LinkReach(tags=tags, domains=(place.organization.domain,), links=links)
    await create_api_key(
        place.database, place.org_id, KeyKind.REST, place.now, name=place.draw(longest(NAME_RULE)),
        scopes=(Permission.LINKS_READ,), limited_to=reach,
    )  # fmt: skip


async def write_single_sign_on(place: Place) -> None:
    issuer = f"https://id.shop.example/{'x' * 2_000}"
    domains = tuple(f"d{n}.{'x' * 60}.example" for n in range(50))
    provider = IdentityProvider(
        issuer,
        place.draw(long_text(500)),
        place.draw(long_text(500)),
        domains,
        groups_claim=place.draw(long_text(200)),
    )
    await set_provider(place.database, place.org_id, provider)
    group = place.draw(longest(GROUP_RULE))
    mapping = tuple(GroupRole(f"{n:02}{group[2:]}", Role.EDITOR) for n in range(MOST_GROUP_ROLES))
    await set_group_roles(place.database, place.org_id, GroupRoles(mapping, Role.VIEWER))


async def write_users(place: Place) -> None:
    """As many passkeys as a person may have, with credential ids as long as WebAuthn allows (1,023 bytes)."""
    email = f"{uuid.uuid4().hex}@{'.'.join(['x' * 60] * 3)}.example"
    user = User(UserId(str(uuid.uuid4())), email, PASSWORD_HASH, (place.org_id,), place.now)
    await insert_user(place.database, user)
    name = place.draw(longest(PASSKEY_NAME))
    passkeys = [Passkey("aZ0_" * 341, b"\x00" * 1_000, 2**31, name, place.now) for _ in range(MOST_PASSKEYS)]
    hashes = tuple(recovery_hash(f"ABCDEFGHIJKLMNO{n}") for n in range(10))
    factor = SecondFactor("A" * SECRET_LENGTH, 2**40, hashes, place.now, tuple(passkeys))
    await set_second_factor(place.database, user, factor)


async def write_organizations(place: Place) -> None:
    await rename_organization(place.database, place.org_id, place.draw(longest(ORGANIZATION_NAME)))
    names = [PropertyName().parse("name", f"{n}{'x' * 60}") for n in range(MOST_MARKED)]
    await set_event_properties(place.database, place.org_id, names)
    patterns = [f"{'x' * 60}.{number}.example" for number in range(MOST_PATTERNS)]
    # The other list has never been set.
    of_rules = place.draw(st.sampled_from([*RULE_FIELDS]))
    await change_destination_rules(place.database, place.org_id, {of_rules: patterns})
