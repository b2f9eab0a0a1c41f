"""`waylink follow`: an organization's feed, written into a file or a database as it comes."""
