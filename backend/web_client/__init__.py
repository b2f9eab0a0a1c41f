"""Reads pages of strangers: what a link leads to. Nothing inside the operator's network is reached by it."""
