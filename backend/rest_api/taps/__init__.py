"""What a tap on a link does on each phone."""
