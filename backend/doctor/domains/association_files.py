"""Checks the association files of a domain, read as Apple and Google read them.

Both want status 200 without a redirect, JSON, and the type `application/json`. Apple reads 128 KB at most.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from backend.doctor.domains.site import SiteVisitor
from backend.domain.accounts.apps import AndroidApp, Apps, IosApp
from backend.domain.finding import Area, Finding, Findings, SetupStep
from backend.web_client.page_reader import MOST_BYTES, Unreadable, WebAnswer

_findings = Findings(Area.DOMAINS, SetupStep.APPS)
APPLE = ".well-known/apple-app-site-association"
GOOGLE = ".well-known/assetlinks.json"
# The User-Agent of Apple's fetcher, so that a firewall that blocks it is noticed.
_APPLE_AGENT = "AASA-Bot/1.0.0"
_LONGEST_FOR_APPLE = 128 * 1024
_ADVICE = "Forward the path to the service as it is: with its Host header, without redirect or login."


async def examine_association_files(visitor: SiteVisitor, apps: Apps) -> list[Finding]:
    """Findings on the files of a link domain, for the apps that are set for it."""
    findings = []
    if apps.ios:
        findings.append(await _examine(visitor, APPLE, apps.ios.app_id, _apple_check(apps.ios)))
    if apps.android:
        findings.append(await _examine(visitor, GOOGLE, apps.android.package, _google_check(apps.android)))
        if not apps.android.fingerprints:
            findings.append(
                _findings.warning(
                    f"{visitor.site.address}/{GOOGLE}",
                    "It names no certificate, so Android does not take the app for the domain's.",
                    "waylink app set … --android-fingerprint SHA256",
                )
            )
    return findings


# Takes the content of a file as parsed JSON. Returns a sentence on what is wrong with it, or None.
_Check = Callable[[Any], str | None]


async def _examine(visitor: SiteVisitor, path: str, app: str, check: _Check) -> Finding:
    url = f"{visitor.site.address}/{path}"
    try:
        answer = await visitor.get(path, **({"User-Agent": _APPLE_AGENT} if path == APPLE else {}))
    except Unreadable as error:
        return _findings.error(url, f"It {error}.", _ADVICE)
    wrong = _wrong_answer(answer) or _wrong_content(answer, check)
    if wrong:
        return _findings.error(url, wrong, _ADVICE)
    return _findings.ok(
        url, f"Phones can read it ({len(answer.content):,} bytes), and it names the app {app}."
    )


def _wrong_answer(answer: WebAnswer) -> str | None:
    if answer.location:
        return f"It is redirected to {answer.location}, which phones do not follow."
    if answer.status != 200:
        return f"It is answered with status {answer.status}."
    if answer.media_type != "application/json":
        kind = answer.headers.get("content-type", "")
        return f"Its Content-Type is {kind or 'missing'}; it must be application/json."
    if len(answer.content) > _LONGEST_FOR_APPLE and answer.url.endswith(APPLE):
        return f"It has {_size(answer)} bytes; Apple reads {_LONGEST_FOR_APPLE}."
    if len(answer.content) >= MOST_BYTES:
        return f"It has {_size(answer)} bytes, which can't be right."
    return None


def _size(answer: WebAnswer) -> str:
    size = len(answer.content)
    return str(size) if size < MOST_BYTES else f"at least {size}"


def _wrong_content(answer: WebAnswer, check: _Check) -> str | None:
    try:
        return check(json.loads(answer.content))
    except (ValueError, RecursionError):
        return "It is not JSON."
    except (KeyError, TypeError, IndexError, AttributeError):
        return "It is JSON of another form."


def _apple_check(app: IosApp) -> _Check:
    def check(content: Any) -> str | None:
        app_ids = [app_id for detail in content["applinks"]["details"] for app_id in detail["appIDs"]]
        return None if app.app_id in app_ids else f"It does not name the app {app.app_id}."

    return check


def _google_check(app: AndroidApp) -> _Check:
    def check(content: Any) -> str | None:
        targets = [statement["target"] for statement in content]
        app_targets = [target for target in targets if target["package_name"] == app.package]
        if not app_targets:
            return f"It does not name the app {app.package}."
        fingerprints = set(app_targets[0]["sha256_cert_fingerprints"])
        is_complete = set(app.fingerprints) <= fingerprints
        return None if is_complete else "It lacks certificates that are set for the app."

    return check
