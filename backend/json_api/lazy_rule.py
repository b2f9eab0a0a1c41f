"""A route whose addresses are built by functions that are compiled only once somebody builds one."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from quart.routing import QuartRule


class LazyRule(QuartRule):
    """A route that compiles its address-building functions at the first address, and keeps them.

    Werkzeug compiles them for every route at each start: more than two hundred, of which APIs need none.
    """

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        compiled = cache(partial(super()._compile_builder, append_unknown))

        def build(rule: LazyRule, **values: Any) -> tuple[str, str]:
            return compiled()(rule, **values)

        return build
