"""What processes of the service share out: leases, heartbeats, and work that is done again and again."""
