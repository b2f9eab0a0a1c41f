"""The service's own MongoDB server, which is used if none is configured."""
