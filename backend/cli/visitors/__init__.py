"""Commands for what is known of visitors."""
