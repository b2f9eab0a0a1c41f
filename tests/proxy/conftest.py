"""A browser for the tests of proxies: the same as for the SDK's."""

from tests.browser.conftest import browser_context_args, browser_type_launch_args, fresh_page, page, window

__all__ = ["browser_context_args", "browser_type_launch_args", "fresh_page", "page", "window"]
