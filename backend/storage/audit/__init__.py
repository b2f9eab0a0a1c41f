"""The audit log: each change is recorded in its own transaction, in the outbox of the feed."""
