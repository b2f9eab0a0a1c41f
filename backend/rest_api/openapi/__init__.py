"""The OpenAPI document, and an HTML page that shows it."""
