"""What Waylink's terms mean: rules and values, without I/O. Time and ids are passed in."""
