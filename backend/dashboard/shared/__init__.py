"""The pages of shared reports, which anyone may open who has the URL."""
