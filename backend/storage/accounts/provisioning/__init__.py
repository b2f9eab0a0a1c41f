"""What identity providers change, each time with what follows for memberships, in one transaction."""
