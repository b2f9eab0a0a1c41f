"""Mails that the service sends: addresses, messages, and when to try again."""
