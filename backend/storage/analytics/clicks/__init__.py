"""Questions about clicks: counts, breakdowns, the latest ones, and files of single ones."""
