"""The ledger's signed statements."""
