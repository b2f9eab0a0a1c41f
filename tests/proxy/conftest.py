"""A browser for the tests of proxies: the same as for the SDK's."""

from tests.browser.conftest import browser_type_launch_args

__all__ = ["browser_type_launch_args"]
