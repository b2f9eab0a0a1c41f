"""Mails that are to be sent, and what became of them."""
