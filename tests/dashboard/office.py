"""A service that runs, and a person in a browser who works at its dashboard."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
from playwright.sync_api import Page

from tests.dashboard.people import PASSWORD, FormsOf
from tests.dashboard.routes import routes
from tests.processes.service_process import ServiceProcess, run_command

# Not pages: images, files, what scripts ask for, and what leads who is signed in to the overview.
NOT_PAGES = ("/assets/", "/sign-in", "/qr.", "/status", "/clicks", "/live/stream", ".csv", "/file")
# Pages that look different with these arguments.
VIEWS = (
    "/attribution?period=all&by=link&sort=-revenue_per_click&campaign=",
    "/links?period=all&sort=-revenue&made_from=x&q=Link",
    "/search?q=Link",
    "/alerts/new?kind=spike",
    "/?period=today&chart=revenue&source=letter",
    "/?from=x&to=y&country=DE",
    "/clicks?country=DE",
    "/sales?of=leads&touch=linear",
)


@dataclass(frozen=True, slots=True)
class Office:
    """A running service, and a user of one of its organizations."""

    base_url: str
    email: str
    ids: dict[str, str]

    def sign_in(self, page: Page) -> None:
        """Sign in as the user, on the way to the list of links."""
        page.goto(f"{self.base_url}/sign-in?next=/links")
        page.get_by_label("E-mail address").fill(self.email)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(f"{self.base_url}/links")

    def open_session(self, page: Page) -> None:
        """Sign in as the user without the pages for it, which take a browser longer than most tests."""
        with self.client() as client:
            page.context.add_cookies(
                [
                    {"name": cookie.name, "value": cookie.value or "", "url": self.base_url}
                    for cookie in client.cookies.jar
                ]
            )

    @contextmanager
    def client(self) -> Iterator[httpx.Client]:
        """A client that is signed in as the user."""
        with httpx.Client(base_url=self.base_url, timeout=60) as client:
            fields = FormsOf(client.get("/sign-in").text).fields_of("/sign-in")
            typed = {"email": self.email, "password": PASSWORD}
            assert client.post("/sign-in", data=fields | typed).status_code == 303
            yield client

    @property
    def pages(self) -> list[str]:
        """The address of every page."""
        paths = set(routes("GET", self.ids))
        pages = sorted(path for path in paths if not any(part in path for part in NOT_PAGES))
        return [*pages, *VIEWS]


def make_organization(running: ServiceProcess, name: str) -> str:
    """A new organization; its id."""
    return str(running.command("organization", "create", name)["id"])


def make_key(running: ServiceProcess, org: str, kind: str) -> str:
    """A new key of this kind."""
    return str(running.command("key", "create", "--org", org, "--kind", kind)["key"])


def make_user(running: ServiceProcess, *org_ids: str) -> str:
    """A new user of these organizations with PASSWORD; the e-mail address."""
    email = f"{uuid.uuid4().hex}@example.com"
    orgs = [word for org_id in org_ids for word in ("--org", org_id)]
    command = ("user", "create", email, *orgs, "--password-stdin")
    run_command(*command, environment=running.environment, typed=PASSWORD)
    return email
