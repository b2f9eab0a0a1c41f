"""Streams a page in two parts: the beginning at once, and the block `content` when its values are read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from typing import Any

from jinja2 import Template
from jinja2.runtime import Context
from quart import current_app, request, stream_with_context

from backend.dashboard.frame.failures import error_words
from backend.web.templates import render

# Seconds for the values of the content, which take several queries, and for the browser to read the page.
CONTENT_SECONDS = 150.0
READING_SECONDS = 60.0
_CONTENT = "content"
# Separates the two parts in the template's output.
_SEPARATOR = "\0"
LateValues = Callable[[], Awaitable[Mapping[str, Any]]]
TemplateBlock = Callable[[Context], Iterator[str]]


async def stream_page(
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
    content, late = context.blocks[_CONTENT][0], context

    def separate(block_context: Context) -> Iterator[str]:
        nonlocal late
        late = block_context
        yield _SEPARATOR

    context.blocks[_CONTENT][0] = separate
    written: list[str] = []
    for piece in template.root_render_func(context):
        if piece is _SEPARATOR:
            yield "".join(written).encode()
            written = [await _content(content, late, later)]
        else:
            written.append(piece)
    yield "".join(written).encode()


async def _content(block: TemplateBlock, context: Context, later: LateValues) -> str:
    """The HTML of the template's block with the values of `later`; if these fail, an explanation."""
    try:
        async with asyncio.timeout(CONTENT_SECONDS):
            context.vars.update(await later())
        return "".join(block(context))
    except Exception as error:
        title, text = error_words(error)
        return await render("dashboard/frame/failed.html", title=title, text=text)
