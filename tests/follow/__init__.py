"""`waylink follow`: a feed written into files and PostgreSQL."""
