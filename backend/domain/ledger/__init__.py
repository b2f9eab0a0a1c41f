"""The ledger's proof: hashes of blocks, a tree over those of a day, and statements that are signed."""
