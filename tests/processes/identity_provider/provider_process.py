"""Identity providers in a process of Node.js, and people who sign in there."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import httpx

from sdk_build.node import install_packages, node_environment

FOLDER = Path(__file__).parent
JsonObject = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider that runs."""

    issuer: str

    async def register(self, redirect_uri: str, **metadata: object) -> tuple[str, str]:
        """Register a client; its id and its secret."""
        body = {"redirect_uris": [redirect_uri], "client_name": "Waylink", **metadata}
        made = await self._post("/reg", body)
        return made.json()["client_id"], made.json()["client_secret"]

    async def has(self, login: str, **claims: object) -> None:
        """Let the person with this login have these claims."""
        await self._post("/test/people", {login: claims})

    async def change_keys(self) -> None:
        """Sign with another key from now on, and know the old one no more."""
        await self._post("/test/keys", None)

    async def visit(self, address: str, login: str) -> str:
        """Sign in with a browser that was sent to this address; the address that it is sent back to."""
        async with httpx.AsyncClient(base_url=self.issuer) as browser:
            page = await _sent_on(browser, address)
            shown = await browser.post(page, data={"prompt": "login", "login": login, "password": "any"})
            return await _sent_on(browser, urljoin(self.issuer, shown.headers["location"]))

    async def refuse(self, address: str) -> str:
        """Stop there instead of signing in; the address that the browser is sent back to."""
        async with httpx.AsyncClient(base_url=self.issuer) as browser:
            stopped = await browser.get(f"{await _sent_on(browser, address)}/abort")
            return await _sent_on(browser, urljoin(self.issuer, stopped.headers["location"]))

    async def _post(self, path: str, body: object) -> httpx.Response:
        async with httpx.AsyncClient(base_url=self.issuer) as client:
            answer = await client.post(path, json=body)
        assert answer.status_code < 300, answer.text
        return answer


@contextmanager
def identity_providers() -> Iterator[list[Provider]]:
    """Two providers that run for the length of the block."""
    install_packages(FOLDER)
    environment = node_environment()
    node = shutil.which("node", path=environment["PATH"])
    assert node
    command = [node, str(FOLDER / "provider.js")]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            told = next(line for line in process.stdout if line.startswith("["))
            yield [Provider(issuer) for issuer in json.loads(told)]
        finally:
            process.kill()


async def _sent_on(browser: httpx.AsyncClient, address: str) -> str:
    """Where the browser is sent from there."""
    answer = await browser.get(address)
    assert answer.is_redirect, answer.text
    return urljoin(address, answer.headers["location"])
