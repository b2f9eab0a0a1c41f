"""People who use the dashboard: a browser without a screen, which keeps cookies and fills in forms."""

from __future__ import annotations

import re
import secrets
import uuid
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from urllib.parse import urlsplit

import httpx

from backend.app import Service
from backend.domain.accounts.roles import Role
from backend.domain.accounts.sessions import new_session
from backend.domain.accounts.users import User
from backend.domain.ids import OrgId, UserId
from backend.storage.accounts.users import sessions, users
from backend.storage.accounts.users.passwords import hash_password, needs_new_hash
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now

PASSWORD = "correct horse battery"
# What forms are made of: to read all of a page takes a test as long as the service takes to write it.
FORMS = re.compile(r"</?select\b[^>]*>|<(?:form|input|option)\b[^>]*>|<textarea\b.*?</textarea>", re.DOTALL)
# A hash is dear to make: every user of the tests has the same one, of the parameters that hold for the test.
_hashes: dict[str, str] = {}


@dataclass(slots=True)
class Person:
    """A browser, and who sits at it."""

    client: httpx.AsyncClient
    email: str

    async def get(self, path: str) -> httpx.Response:
        """A page, without going where it redirects to."""
        return await self.client.get(path)

    async def send(self, page: str, path: str, **fields: str) -> httpx.Response:
        """Send a form to `path` with the token and the other fields that `page` has in its form for it."""
        return await self.submit(await self.client.get(page), path, **fields)

    async def submit(self, page: httpx.Response, path: str, **fields: str) -> httpx.Response:
        """Send the form to `path` of a page that is open already."""
        return await self.client.post(path, data=FormsOf(page.text).fields_of(path) | fields)

    async def token(self) -> dict[str, str]:
        """The field that every form has, for a form that no page has."""
        fields = FormsOf((await self.get("/tags")).text).fields_of("/sign-out")
        return {"form_token": fields["form_token"]}

    async def sign_in(self, password: str = PASSWORD, next: str = "") -> httpx.Response:
        """Send the sign-in form."""
        return await self.send(f"/sign-in?next={next}", "/sign-in", email=self.email, password=password)

    async def join(self, path: str, password: str = PASSWORD) -> httpx.Response:
        """Accept an invitation with a new password, and sign in with it where that is asked for."""
        answer = await self.send(path, path, password=password)
        asked = answer.headers.get("location", "").startswith("/sign-in")
        return await self.sign_in(password) if asked else answer


def browser(service: Service, base_url: str = "http://localhost:8080") -> httpx.AsyncClient:
    """A client that talks to the service without a network in between.

    Each has an address of its own, so that tests don't use up each other's limits.
    """
    address = f"2001:db8:{secrets.token_hex(2)}:{secrets.token_hex(2)}::1"
    transport = httpx.ASGITransport(app=service, client=(address, 40000))
    return httpx.AsyncClient(transport=transport, base_url=base_url)


async def make_user(
    database: Database, *org_ids: OrgId, email: str = "", role: Role = Role.OWNER, proved: bool = False
) -> str:
    """Store a user of these organizations with PASSWORD; the e-mail address, which may be proved."""
    email = email or f"{uuid.uuid4().hex}@example.com"
    if PASSWORD not in _hashes or needs_new_hash(_hashes[PASSWORD]):
        _hashes[PASSWORD] = await hash_password(PASSWORD, "the tests")
    roles = dict.fromkeys(org_ids, role)
    made = User(UserId(str(uuid.uuid4())), email, _hashes[PASSWORD], org_ids, utc_now(), roles)
    await users.insert_user(database, replace(made, is_address_proved=proved))
    return email


async def open_session(database: Database, person: Person, base_url: str = "") -> None:
    """Sign a person in as far as the service can tell, without the dear comparison of a password."""
    user = await users.find_user_by_email(database, person.email)
    assert user is not None
    token = secrets.token_urlsafe(32)
    await sessions.insert_session(database, new_session(token, user.id, user.org_ids[0], utc_now()))
    if base_url:  # a public one, to which browsers send another cookie
        person.client.cookies.set("__Host-waylink", token, domain=urlsplit(base_url).hostname or "")
    else:
        person.client.cookies.set("waylink", token, domain="localhost.local")


class FormsOf(HTMLParser):
    """The forms of a page: for each address the names and values that a browser would send."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.forms: list[tuple[str, dict[str, str]]] = []
        self._select = ""
        self._is_first = False
        self._area = ""
        self.feed("".join(FORMS.findall(html)))

    def fields_of(self, action: str) -> dict[str, str]:
        """The fields of the first form that is sent there."""
        form_fields = next((fields for to, fields in self.forms if to == action), None)
        assert form_fields is not None, f"no form for {action}, only for {[to for to, _ in self.forms]}"
        return form_fields

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take up a form, or a field of the form that is open."""
        attributes = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append((attributes.get("action", ""), {}))
        elif tag == "input" and self.forms and attributes.get("name"):
            if attributes.get("type") not in {"checkbox", "radio"} or "checked" in attributes:
                self._set(attributes["name"], attributes.get("value", "on"))
        elif tag in {"select", "textarea"}:
            self._select, self._area = (
                (attributes["name"], "") if tag == "select" else ("", attributes["name"])
            )
            self._set(attributes["name"], "")
            self._is_first = True
        elif tag == "option" and self._select:
            if "selected" in attributes or self._is_first:
                self._set(self._select, attributes.get("value", ""))
            self._is_first = False

    def handle_endtag(self, tag: str) -> None:
        """Close a field."""
        if tag in {"select", "textarea"}:
            self._select = self._area = ""

    def handle_data(self, data: str) -> None:
        """The text of a text area."""
        if self._area:
            self._set(self._area, data)

    def _set(self, name: str, value: str) -> None:
        self.forms[-1][1][name] = value


def heading(response: httpx.Response) -> str:
    """The text of a page's first heading."""
    match = re.search(r"<h1>(.*?)</h1>", response.text, re.DOTALL)
    assert match, response.text
    return match[1].strip()
