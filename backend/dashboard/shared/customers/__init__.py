"""Reports of customers over time: what their page shows, and the lines of their files."""
