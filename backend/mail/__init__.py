"""Sends mails through the configured mail server."""
