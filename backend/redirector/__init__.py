"""Answers visitors of short URLs. A plain ASGI application, without a framework, to be fast."""
