"""The pages of what campaigns cost."""
