"""Asks identity providers who somebody is (OpenID Connect): discovery, keys, codes and ID tokens."""
