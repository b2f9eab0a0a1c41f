"""What operators need: health checks, metrics and logs."""

from backend.operations import health, metrics
from backend.operations.blueprint import operations
from backend.operations.health import not_ready_while
from backend.operations.metrics import update_before_scrape
from backend.operations.observation import observe

__all__ = ["health", "metrics", "not_ready_while", "observe", "operations", "update_before_scrape"]
