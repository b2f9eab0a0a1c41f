"""The browser SDK's files for sites: `/waylink.js` and what lies beside it.

Each has a plain address with the newest content. The script and its sentences also have the address of their
build, whose content never changes (decisions, "sdk-addresses").
"""

from __future__ import annotations

import re

from quart import Blueprint, Response, abort, request

from backend.sdk_api.content_codings import choose_coding
from backend.web.sdk_files import (
    IDENTITY,
    PARTS,
    SCRIPT,
    SENTENCES,
    SOURCE_MAP,
    app_archive,
    build,
    npm_archive,
    sdk_files,
)

# Browsers ask again after ten minutes. Up to a day later a page still starts with the old version, and gets
# the new one in the background.
NEWEST = "public, max-age=600, stale-while-revalidate=86400"
FOR_EVER = "public, max-age=31536000, immutable"
# For the address of another build. It is answered with this build's content, but a process of that build may
# take over any moment.
SOON_ANOTHER = "public, max-age=60"
_BUILD = re.compile(r"[0-9a-f]{12}")

script = Blueprint("sdk_script", __name__)


@script.get(f"/{SCRIPT}")
async def script_tag_file() -> Response:
    """The SDK's script."""
    return _with_map(await _file(SCRIPT, NEWEST))


@script.get(f"/{SENTENCES}")
async def sentences_of_debug() -> Response:
    """The sentences that the script prints with `debug: true`."""
    return await _file(SENTENCES, NEWEST)


async def part_of_the_sdk(part: str) -> Response:
    """What a site loads beside the script for one of its options."""
    return await _file(part, NEWEST)


for _part in PARTS:
    script.add_url_rule(f"/{_part}", view_func=part_of_the_sdk, defaults={"part": _part})


@script.get("/waylink-<build_asked>.js")
async def script_of_a_build(build_asked: str) -> Response:
    """The SDK's script at the address of its build."""
    return _with_map(await _file(SCRIPT, _lifetime(build_asked)))


@script.get("/waylink-<build_asked>.json")
async def sentences_of_a_build(build_asked: str) -> Response:
    """The sentences of `debug` at the address of their build."""
    return await _file(SENTENCES, _lifetime(build_asked))


@script.get(f"/{SOURCE_MAP}")
async def source_map() -> Response:
    """The source map of the script, for the developer tools of browsers."""
    return await _file(SOURCE_MAP, NEWEST)


@script.get(f"/{npm_archive()}")
async def npm_package() -> Response:
    """The npm package of this build, for sites."""
    return await _file(npm_archive(), NEWEST)


@script.get(f"/{app_archive()}")
async def npm_package_for_apps() -> Response:
    """The npm package for apps."""
    return await _file(app_archive(), NEWEST)


def _with_map(response: Response) -> Response:
    """Name the source map to developer tools; a comment in the script would cost every visitor its bytes."""
    response.headers["SourceMap"] = SOURCE_MAP
    return response


def _lifetime(build_asked: str) -> str:
    """The Cache-Control for the address of a build; raises NotFound for what is none."""
    if not _BUILD.fullmatch(build_asked):
        abort(404)
    return FOR_EVER if build_asked == build() else SOON_ANOTHER


async def _file(name: str, cache_control: str) -> Response:
    """The file in the best content coding that the request accepts, or 304 if the client has that."""
    file = sdk_files().get(name) or abort(404)
    coding = choose_coding(request.headers.get("Accept-Encoding"), file.contents) or abort(406)
    response = Response(file.contents[coding], content_type=file.media_type)
    response.set_etag(file.etag(coding))
    response.vary.add("Accept-Encoding")
    response.headers["Cache-Control"] = cache_control
    # For pages that ask for it: with an `integrity` hash, or isolated by Cross-Origin-Embedder-Policy.
    response.headers["Access-Control-Allow-Origin"] = "*"
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    await response.make_conditional(request)
    if coding != IDENTITY and response.status_code == 200:
        response.headers["Content-Encoding"] = coding
    return response
