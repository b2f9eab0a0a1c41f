"""A route that is only matched: the service never builds an address from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from quart.routing import QuartRule


class OneWayRule(QuartRule):
    """A route whose address-building functions are compiled only when they are needed, which is never here.

    Werkzeug compiles them for every route at each start: more than two hundred.
    """

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        compiled = super()._compile_builder

        def build(rule: OneWayRule, **values: Any) -> tuple[str, str]:
            return compiled(append_unknown)(rule, **values)

        return build
