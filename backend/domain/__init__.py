"""The rules of Waylink and the values they work on. No I/O: the time and new ids are passed in."""
