"""An HTTP client for addresses that strangers name. It reaches nothing inside the operator's network."""
