"""Alerts: what fired, the rules, and the page on which readers stop their mails."""
