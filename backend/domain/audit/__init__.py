"""The audit log: who changed what of an organization's, and how it was before."""
