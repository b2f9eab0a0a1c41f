"""Cookies: an app has none."""


def delete_cookies():
    """Nothing is to be deleted."""


def keep_cookie(_device, _known_id):
    """Nothing is to be renewed."""
