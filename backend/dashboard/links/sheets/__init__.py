"""The pages that make links from a spreadsheet: paste or choose a file, look at each row, make them."""
