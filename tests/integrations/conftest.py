"""A browser and a server of pages for the tests of integrations: the same as for the SDK's."""

from tests.browser.conftest import (
    browser_context_args,
    browser_type_launch_args,
    empty_page,
    faults,
    page,
    said,
    server,
    service_of_shop,
    window,
)
from tests.browser.visitor import tab, visitor

__all__ = [
    "browser_context_args",
    "browser_type_launch_args",
    "empty_page",
    "faults",
    "page",
    "said",
    "server",
    "service_of_shop",
    "tab",
    "visitor",
    "window",
]
