"""Lists of links, and what is shown of links besides themselves."""
