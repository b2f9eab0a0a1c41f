"""What operators look at: health, metrics, logs."""

from backend.operations import health, metrics
from backend.operations.blueprint import operations
from backend.operations.metrics import attach_gauge
from backend.operations.observation import observe

__all__ = ["attach_gauge", "health", "metrics", "observe", "operations"]
