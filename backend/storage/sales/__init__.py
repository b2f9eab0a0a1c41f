"""Sales and leads with their refunds, and how calls that tell of them are stored."""
