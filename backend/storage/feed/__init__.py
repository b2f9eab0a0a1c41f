"""The feed of each organization: who stores facts notes them here, and readers find them in one order."""
