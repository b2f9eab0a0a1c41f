"""The demo organization's past: links of a kite shop's marketing, their clicks, leads and sales.

`catalogue` names the links, `audience` and `rhythm` say who clicks on them and when, `days` draws what
happened from a seed, and `make` stores it the way real clicks and calls are stored.
"""
