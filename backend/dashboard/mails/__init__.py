"""Mails with figures: who gets them, and the pages that their readers confirm and unsubscribe on."""
