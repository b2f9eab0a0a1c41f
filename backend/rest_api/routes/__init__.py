"""What the routes of the REST API share."""
