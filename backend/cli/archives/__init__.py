"""Commands for an organization as a file, and for its ledger."""
