"""ClickHouse as a target."""
