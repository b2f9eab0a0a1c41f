"""What belongs to the setup of a link domain: claims that are not proved, and what was found about it."""
