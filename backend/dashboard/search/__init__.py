"""The search of the navigation, and the page of a customer that it leads to."""
