"""What visitors of a short URL get: plain ASGI, with no framework in the way."""
