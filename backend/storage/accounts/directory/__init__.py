"""What identity providers told of an organization's people and groups: the records alone."""
