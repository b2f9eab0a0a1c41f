"""People who come to organizations by every way that there is, each with what they know and have."""

from __future__ import annotations

import re
import secrets
import uuid
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from html import unescape
from urllib.parse import urlsplit

import httpx
from pyotp import TOTP

from backend.app import Service
from backend.domain.accounts.entry.who_gets_in import LinkWay
from backend.domain.accounts.permissions import EVERYTHING
from backend.domain.accounts.provisioning.membership import ProvisionedMember
from backend.domain.accounts.provisioning.people import ProvisionedPerson
from backend.domain.accounts.roles import Role
from backend.domain.accounts.sessions import form_token, new_provider_session
from backend.domain.accounts.single_sign_on.provided_person import ProvidedPerson
from backend.domain.accounts.single_sign_on.provider import IdentityProvider
from backend.domain.accounts.single_sign_on.refusals import SignInRefused
from backend.domain.accounts.users import User
from backend.domain.errors import InvalidField
from backend.domain.ids import OrgId
from backend.storage.accounts.directory.people import list_people
from backend.storage.accounts.provisioning.people_changes import add_person, change_person
from backend.storage.accounts.single_sign_on.admission import admit, open_session
from backend.storage.accounts.users import users
from backend.storage.accounts.users.authenticator_codes import new_secret
from backend.storage.accounts.users.invitations import invite, mailed_token
from backend.storage.accounts.users.members import remove_member
from backend.storage.accounts.users.passkey_ceremony import Ceremony
from backend.storage.accounts.users.password_resets import begin_reset
from backend.storage.driver.mongo import Database
from tests.conftest import MovableClock
from tests.dashboard.passkey_device import PasskeyDevice
from tests.dashboard.people import Person, browser

BASE_URL = "http://localhost:8080"
SECRET_LINK = re.compile(r'<code class="secret">([^<]+)</code>')
RECOVERY_CODE = re.compile(r"\b[A-Z2-7]{4}(?:-[A-Z2-7]{4}){3}\b")


@dataclass(slots=True)
class Visitor:
    """Somebody at their browsers, with what they know: passwords, secrets of second factors and recovery
    codes, passkeys, and paths of links that they were shown or read in a mail."""

    browsers: list[httpx.AsyncClient]
    passwords: list[str] = field(default_factory=list)
    secrets: list[str] = field(default_factory=list)
    recovery_codes: list[str] = field(default_factory=list)
    devices: list[PasskeyDevice] = field(default_factory=list)
    links: list[str] = field(default_factory=list)

    def new_password(self) -> str:
        """One that nobody else knows."""
        self.passwords.append(secrets.token_urlsafe(12))
        return self.passwords[-1]


@dataclass(frozen=True, slots=True)
class World:
    """The service, an organization of a stranger's and one that lets a person in, each with a provider."""

    service: Service
    database: Database
    clock: MovableClock
    evil: OrgId
    good: OrgId
    owner: Person
    """The stranger, as the owner of their organization."""

    def visitor(self, browsers: int) -> Visitor:
        """Somebody new."""
        return Visitor([browser(self.service) for _ in range(browsers)])

    @property
    def now(self) -> datetime:
        """The service's time."""
        return self.clock()

    async def invited(self, org_id: OrgId, email: str, way: LinkWay) -> list[str]:
        """Paths of the links of an invitation: the one that its owner is shown, and the mailed one if a mail
        goes out. None if the organization can't invite this address."""
        try:
            token, invitation = await invite(
                self.database, org_id, email, Role.EDITOR,
                invited_by="x", granted=EVERYTHING, now=self.now,
            )  # fmt: skip
        except InvalidField:
            return []
        mailed = [await mailed_token(self.database, invitation)] if way is LinkWay.MAILED else []
        return [f"/join/{one}" for one in (token, *mailed)]

    async def handed_reset(self, email: str) -> list[str]:
        """The path of a link for a new password of a member, which the stranger gets as the owner."""
        member = await users.find_member_by_email(self.database, self.evil, email)
        if member is None:
            return []
        form = {"form_token": form_token(token_of(self.owner.client), self.evil)}
        shown = await send(self.owner.client, f"/members/{member.id}/new-password", **form)
        return [urlsplit(unescape(url)).path for url in SECRET_LINK.findall(shown.text)]

    async def mailed_reset(self, email: str) -> list[str]:
        """The path of a link for a new password in a mail, which anybody may ask for."""
        user = await users.find_user_by_email(self.database, email)
        if user is None or not user.org_ids:
            return []
        return [f"/new-password/{await begin_reset(self.database, user.id, self.now, LinkWay.MAILED)}"]

    async def remove(self, org_id: OrgId, email: str) -> None:
        """Remove the member with this address, if an owner may."""
        member = await users.find_member_by_email(self.database, org_id, email)
        if member:
            with suppress(ProvisionedMember):
                await remove_member(self.database, org_id, member.id, granted=EVERYTHING)

    async def tell(self, org_id: OrgId, email: str, *, is_active: bool) -> None:
        """Have the organization's provider tell by SCIM of somebody with this address."""
        told = [one for one in await list_people(self.database, org_id) if one.user_name == email]
        if not told:
            made = ProvisionedPerson(
                str(uuid.uuid4()), org_id, email, self.now, self.now, is_active, is_active
            )
            return await add_person(self.database, made)
        changed = replace(told[0], active=is_active)
        return await change_person(self.database, changed, told[0].version)

    async def come_by_provider(self, org_id: OrgId, email: str, client: httpx.AsyncClient) -> bool:
        """Sign in as whom the organization's provider says that it is, with this address."""
        provider = provider_of(org_id)
        named = ProvidedPerson(provider.issuer, email, email, is_email_verified=True)
        try:
            user = await admit(self.database, org_id, provider, named, self.now)
        except SignInRefused:
            return False
        token = secrets.token_urlsafe(32)
        session = new_provider_session(token, user.id, org_id, self.now)
        await open_session(self.database, org_id, provider, session)
        client.cookies.set("waylink", token, domain="localhost.local")
        return True

    async def open_link(self, visitor: Visitor, client: httpx.AsyncClient, email: str, link: str) -> None:
        """Set a new password by a link, and sign in with it where an invitation asks for that."""
        password = visitor.new_password()
        answer = await send(client, link, password=password)
        if link.startswith("/join/") and answer.headers.get("location", "").startswith("/sign-in"):
            await self.sign_in(visitor, client, email, password)

    async def sign_in(self, visitor: Visitor, client: httpx.AsyncClient, email: str, password: str) -> None:
        """Sign in by a password, and where one is asked for by a code that the visitor can make."""
        sent = await send(client, "/sign-in", email=email, password=password)
        if sent.headers.get("location", "").startswith("/sign-in/code"):
            for code in [*map(self.code, visitor.secrets), *visitor.recovery_codes][:3]:
                await send(client, "/sign-in/code", code=code)

    async def sign_in_by_passkey(self, device: PasskeyDevice, client: httpx.AsyncClient) -> None:
        """Sign in by the passkey of a device."""
        options = Ceremony(BASE_URL, token_of(client), self.now).request_options()
        await send(client, "/sign-in/passkey", credential=device.sign(options))

    async def set_up_factor(self, visitor: Visitor, client: httpx.AsyncClient, password: str) -> None:
        """Set a second factor up in a browser where somebody is signed in."""
        secret = new_secret()
        form = {"secret": secret, "code": self.code(secret), "password": password}
        shown = await send(client, "/settings/second-factor", **form)
        if codes := RECOVERY_CODE.findall(shown.text):
            visitor.secrets.insert(0, secret)
            visitor.recovery_codes.insert(0, codes[0])

    async def add_passkey(
        self, visitor: Visitor, client: httpx.AsyncClient, email: str, password: str
    ) -> None:
        """Add a passkey in a browser where somebody is signed in."""
        user = await users.find_user_by_email(self.database, email)
        if user is None:
            return
        device = PasskeyDevice()
        credential = device.make(Ceremony(BASE_URL, token_of(client), self.now).creation_options(user))
        form = {"credential": credential, "passkey_name": "Key", "passkey_password": password}
        added = await send(client, "/settings/second-factor/passkeys", **form)
        if added.status_code == 303:
            visitor.devices.insert(0, device)

    def code(self, secret: str) -> str:
        """The next code of an authenticator app: none is accepted twice, so time goes by."""
        self.clock.offset += timedelta(seconds=31)
        return TOTP(secret).at(self.now)

    async def account(self, email: str) -> User | None:
        """The account of one's own with this address."""
        return await users.find_user_by_email(self.database, email)


def provider_of(org_id: OrgId) -> IdentityProvider:
    """The identity provider of an organization."""
    return IdentityProvider(f"https://{org_id}.example", "client", "secret")


def token_of(client: httpx.AsyncClient) -> str:
    """The token of the browser's cookie, which it gets here if it has none."""
    if "waylink" not in client.cookies:
        client.cookies.set("waylink", secrets.token_urlsafe(32), domain="localhost.local")
    return str(client.cookies["waylink"])


async def send(client: httpx.AsyncClient, path: str, **fields: str) -> httpx.Response:
    """Send a form from this browser, as a page has it."""
    return await client.post(path, data={"form_token": form_token(token_of(client))} | fields)


async def acts_in(client: httpx.AsyncClient, org_id: OrgId) -> bool:
    """Whether a browser acts in the organization, which it asks for."""
    answer = await send(client, "/organization", org_id=org_id)
    return answer.status_code == 303 and answer.headers["location"] == "/"
