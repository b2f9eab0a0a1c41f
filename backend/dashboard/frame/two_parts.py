"""Sends a page in two parts: what stands before its content at once, and the content when it is known."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, cast

from jinja2 import Template
from jinja2.runtime import Context
from quart import current_app, render_template, request, stream_with_context

from backend.dashboard.frame.failures import told_of

# How long a content may take, which asks the database several times, and the browser to read the page then.
CONTENT_SECONDS = 150.0
READING_SECONDS = 60.0
_CONTENT = "content"
# Stands between the parts where they are put together.
_SEND = "\0"
LateValues = Callable[[], Awaitable[Mapping[str, Any]]]
TemplateBlock = Callable[[Context], AsyncIterator[str]]


async def in_two_parts(
    name: str, values: dict[str, Any], later: LateValues
) -> AsyncGenerator[bytes, None] | bytes:
    """The template with these values, as a body whose block `content` has those of `later` too."""
    if request.method == "HEAD":
        return b""
    await current_app.update_template_context(values)
    template = current_app.jinja_env.get_template(name)
    pieces: AsyncGenerator[bytes, None] = stream_with_context(_parts)(template, values, later)
    return pieces


async def _parts(
    template: Template, values: dict[str, Any], later: LateValues
) -> AsyncGenerator[bytes, None]:
    context = template.new_context(values)
    # In an asynchronous environment, as Quart's is, blocks are so too.
    blocks = cast(dict[str, list[TemplateBlock]], context.blocks)
    content = blocks[_CONTENT][0]

    async def complete(known: Context) -> AsyncIterator[str]:
        yield _SEND
        yield await _content(content, known, later)

    blocks[_CONTENT][0] = complete
    written: list[str] = []
    async for piece in template.root_render_func(context):  # type: ignore[attr-defined]
        if piece is _SEND:
            yield "".join(written).encode()
            written.clear()
        else:
            written.append(piece)
    yield "".join(written).encode()


async def _content(block: TemplateBlock, context: Context, later: LateValues) -> str:
    """The HTML of the template's block, with what `later` gives; if that fails, an explanation instead."""
    try:
        async with asyncio.timeout(CONTENT_SECONDS):
            context.vars.update(await later())
        return "".join([piece async for piece in block(context)])
    except Exception as error:
        title, text = told_of(error)
        return await render_template("dashboard/frame/failed.html", title=title, text=text)
