"""Checks a site's first-party proxy for the browser SDK: whether script and calls pass it unharmed."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import httpx

from backend.web.sdk_files import PARTS

PROBE = "/serviceCore/sdk/v1/probe/"
# Seconds within which the proxy and the service behind it must answer.
TIMEOUT = 10.0
# Seconds. The service allows ten minutes; a site that serves a copy of the script may choose up to a day.
LONGEST_SCRIPT_LIFETIME = 24 * 60 * 60
HOST_PASSED_ON = (
    "Host: the service answered as for a short link. The proxy passes the Host header on; "
    "it must send the service's own host name."
)
_MAX_AGE = re.compile(r"(?:^|,)\s*max-age=(\d+)", re.IGNORECASE)
# The batch endpoint's status for a body without a key, and for an address that sent too many of these.
_STATUSES_OF_EMPTY_BATCH = (401, 429)


@dataclass(frozen=True, slots=True)
class _Names:
    """The addresses that the SDK derives from the address of its script."""

    parts: tuple[str, ...]
    sentences: str
    base_url: str
    calls: str | None  # where calls go, if that is not below base_url


def examine(url: str) -> list[str]:
    """Sentences on what the proxy at this URL loses; none if it loses nothing.

    `url` is the address of the script, or the SDK's `baseUrl`, for which only the calls are examined.
    """
    parts = urlsplit(url)
    if not parts.path.endswith(".js"):
        return _lost_of_a_call(url.rstrip("/"))
    names = _names_of(url)
    with httpx.Client(timeout=TIMEOUT) as client:
        client.headers.clear()
        try:
            lost = [*_lost_of_script(client, url, names), *_lost_of_sentences(client, names.sentences)]
            if names.calls:
                lost += _lost_of_name(client, names.calls)
        except httpx.HTTPError as error:
            return [_no_answer(error)]
    return lost + _lost_of_a_call(names.base_url)


def _names_of(script: str) -> _Names:
    parts = urlsplit(script)
    folder, _, name = parts.path.rpartition("/")
    is_ours = name.startswith("waylink")
    base = urlunsplit((parts.scheme, parts.netloc, folder if is_ours else parts.path[:-3], "", ""))
    sentences = urlunsplit((parts.scheme, parts.netloc, f"{parts.path[:-3]}.json", "", ""))
    # Those of a build lie beside it, under their own names.
    beginning = f"{base}/waylink" if is_ours else base
    beside = tuple(beginning + part.removeprefix("waylink") for part in PARTS)
    return _Names(beside, sentences, base, None if is_ours else base)


def _lost_of_script(client: httpx.Client, url: str, names: _Names) -> Iterator[str]:
    packed = client.get(url, headers={"Accept-Encoding": "gzip, br"})
    if not _is(packed, "javascript"):
        yield _not_the("script", packed)
        return
    # The second request shows whether a cache gives the compressed script to everybody.
    plain = client.get(url, headers={"Accept-Encoding": "identity"})
    yield from _lost_of_content("script", plain)
    if "Content-Encoding" not in packed.headers:
        yield f"encoding: the script arrives uncompressed ({len(packed.content)} bytes)."
    if not {"accept-encoding", "*"} & {
        header.strip().lower() for header in packed.headers.get("Vary", "").split(",")
    }:
        yield "header Vary: it does not name Accept-Encoding, so caches may give anyone any encoding."
    yield from _lost_of_lifetime(client, url, plain)
    yield from _lost_of_parts(client, names.parts)


def _lost_of_parts(client: httpx.Client, urls: Iterable[str]) -> Iterator[str]:
    """Sentences on the parts of the script that are not forwarded."""
    for answer in map(client.get, urls):
        if not _is(answer, "javascript"):
            yield f"{_not_the('part', answer)} Pages can't have the option that it is for."


def _lost_of_content(what: str, plain: httpx.Response) -> Iterator[str]:
    """Sentences on what is wrong with the answer to a request for the uncompressed file."""
    if "Content-Encoding" in plain.headers:
        yield (
            f"encoding: who asks for the {what} as it is gets it compressed "
            f"({plain.headers['Content-Encoding']}): a cache on the way ignores Vary."
        )
    elif "ETag" in plain.headers:
        promised = plain.headers["ETag"].removeprefix("W/").strip('"').partition("-")[0]
        if promised != hashlib.sha256(plain.content).hexdigest():
            yield f"content: the {what} arrived changed."


def _lost_of_lifetime(client: httpx.Client, url: str, plain: httpx.Response) -> Iterator[str]:
    """Sentences on what is wrong with the headers by which browsers cache the script."""
    tag = plain.headers.get("ETag")
    if tag is None:
        yield "header ETag: it arrived missing, so an unchanged script is sent again."
    else:
        again = client.get(url, headers={"Accept-Encoding": "identity", "If-None-Match": tag})
        if again.status_code != 304:
            yield f"header If-None-Match: an unchanged script is sent again ({again.status_code}, not 304)."
    lifetime = _MAX_AGE.search(plain.headers.get("Cache-Control", ""))
    if lifetime is None:
        yield "header Cache-Control: it arrived without max-age."
    elif int(lifetime[1]) > LONGEST_SCRIPT_LIFETIME and "immutable" not in plain.headers["Cache-Control"]:
        days = int(lifetime[1]) // LONGEST_SCRIPT_LIFETIME
        yield f"header Cache-Control: browsers keep the script for {days} days, whatever is mended meanwhile."


def _lost_of_sentences(client: httpx.Client, url: str) -> Iterator[str]:
    answer = client.get(url, headers={"Accept-Encoding": "identity"})
    if _is(answer, "json"):
        yield from _lost_of_content("file of sentences", answer)
    else:
        yield f"{_not_the('file of sentences', answer)} With `debug` the console will have codes only."


def _lost_of_name(client: httpx.Client, url: str) -> Iterator[str]:
    """Sentences on what is wrong at the address to which a renamed script sends its calls."""
    answer = client.post(url, content=b"{}", headers={"Content-Type": "text/plain;charset=UTF-8"})
    if answer.status_code not in _STATUSES_OF_EMPTY_BATCH or not _is_error_of_ours(answer):
        path = urlsplit(url).path
        yield f"calls: a POST to {path} does not reach the service's batch endpoint ({answer.status_code})."


def _is_error_of_ours(answer: httpx.Response) -> bool:
    try:
        return "errorMessage" in answer.json()
    except (ValueError, TypeError):
        return False


def _is(answer: httpx.Response, media_type: str) -> bool:
    return answer.status_code == 200 and media_type in answer.headers.get("Content-Type", "")


def _not_the(what: str, answer: httpx.Response) -> str:
    if answer.is_redirect:
        return _redirected(answer)
    media_type = answer.headers.get("Content-Type", "no type")
    return f"{what}: what {answer.url} gives ({answer.status_code}, {media_type}) is not it."


def _lost_of_a_call(url: str) -> list[str]:
    """Sentences on what the proxy loses of a request below this `baseUrl`."""
    token = secrets.token_hex(8)
    body = f'{{"probe":"{token}","text":"Grüße, 世界"}}'.encode()
    headers = {
        "Content-Type": "text/plain;charset=UTF-8",
        "Cookie": f"probe={token}",
        "Origin": f"https://{token}.example",
        "Referer": f"https://{token}.example/page",
        "User-Agent": f"WaylinkDoctor/{token}",
        "X-Waylink-Probe": token,
    }
    try:
        response = httpx.post(
            f"{url}{PROBE}{token}/a?b=c%20d&b", content=body, headers=headers, timeout=TIMEOUT
        )
    except httpx.HTTPError as error:
        return [_no_answer(error)]
    try:
        return _lost_of_probe(response.json(), token, body, headers)
    except (ValueError, KeyError, TypeError, AttributeError):
        return [_no_probe_answer(response)]


def _no_answer(error: httpx.HTTPError) -> str:
    return f"There is no answer ({type(error).__name__}): does anything listen at this address?"


def _redirected(answer: httpx.Response) -> str:
    return f"The proxy answers with a redirect to {answer.headers.get('Location')}; it must forward."


def _no_probe_answer(response: httpx.Response) -> str:
    if response.status_code == 405 and "Short URLs" in response.text:
        return HOST_PASSED_ON
    if response.status_code == 404 and "html" in response.headers.get("Content-Type", ""):
        return HOST_PASSED_ON + " Or the path is not forwarded."
    if response.is_redirect:
        return _redirected(response)
    return f"path: the answer ({response.status_code}) is not the service's; is the path forwarded unchanged?"


def _lost_of_probe(arrived: dict[str, Any], token: str, body: bytes, headers: dict[str, str]) -> list[str]:
    lost = []
    if arrived["method"] != "POST":
        lost.append(f"method: a POST arrived as {arrived['method']}.")
    if arrived["path"] != f"{token}/a":
        lost.append("path: it arrived changed.")
    if parse_qsl(arrived["query"], keep_blank_values=True) != [("b", "c d"), ("b", "")]:  # in any spelling
        lost.append("query: it arrived changed.")
    if arrived["body_sha256"] != hashlib.sha256(body).hexdigest():
        lost.append("body: it arrived changed.")
    for name, value in headers.items():
        if arrived["headers_sha256"].get(name) != hashlib.sha256(value.encode()).hexdigest():
            state = "changed" if name in arrived["headers_sha256"] else "missing"
            lost.append(f"header {name}: it arrived {state}.")
    return lost
