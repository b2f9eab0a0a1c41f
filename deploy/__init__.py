"""Files for running Waylink: the image's lock files, the systemd unit, and the audit of dependencies."""
