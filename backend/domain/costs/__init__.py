"""What campaigns cost, as an organization tells it (docs/decisions/costs.md)."""
