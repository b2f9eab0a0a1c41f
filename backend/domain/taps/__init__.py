"""What a tap on a link does on each phone: the files that phones read, and how they match a link."""
