"""Cookies: an app has none."""


def delete_cookies():
    """Nothing is to be deleted."""
