"""What operators need: health checks, metrics and logs."""
