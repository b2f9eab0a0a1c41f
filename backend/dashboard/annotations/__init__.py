"""The pages with the notes that charts show."""
