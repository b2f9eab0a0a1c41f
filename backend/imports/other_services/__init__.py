"""Files of links that other services wrote."""
