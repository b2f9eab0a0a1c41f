"""Opens and installs of mobile apps, and links that wait for a first launch."""
