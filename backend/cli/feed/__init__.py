"""Commands for who is told what happens: files, databases and webhooks."""
