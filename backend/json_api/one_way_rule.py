"""A route that is followed from an address to what answers it, and not the other way round."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from quart.routing import QuartRule


class OneWayRule(QuartRule):
    """Writes the functions that build its address when one is asked for, which nobody here does.

    For all routes Werkzeug would write and compile over two hundred at each start.
    """

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        compiled = super()._compile_builder

        def build(rule: OneWayRule, **values: Any) -> tuple[str, str]:
            return compiled(append_unknown)(rule, **values)

        return build
