"""What an organization makes, lists, changes and deletes by itself: each such thing is one value."""
