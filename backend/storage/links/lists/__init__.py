"""Lists of links, and the details that are shown with them."""
