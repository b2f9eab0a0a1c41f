"""A small shop that uses Waylink as a site owner would."""
