"""How Waylink is run: the image's locks, the systemd unit, the audit of dependencies."""
