"""How much may come from a key or an address in a time: counted exactly, or in memory and shared in steps."""
