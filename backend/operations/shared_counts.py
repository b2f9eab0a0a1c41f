"""The folder in which the workers of a service share their metrics."""

# An environment variable that prometheus_client reads; `waylink serve` sets it for its workers.
SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
