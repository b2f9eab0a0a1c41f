"""Renders templates. None of them waits for anything: what it shows was read before."""

from __future__ import annotations

from typing import Any

from quart import Quart, current_app
from quart.templating import Environment


class PromptTemplates(Environment):
    """Quart's templates without coroutines: these ask of each call and macro whether it has to be awaited."""

    def __init__(self, app: Quart, **options: Any) -> None:
        super().__init__(app, **options)
        self.is_async = False


async def render(template: str, /, **values: Any) -> str:
    """The template with these values."""
    await current_app.update_template_context(values)
    return current_app.jinja_env.get_template(template).render(values)
