"""The page for keys of the APIs and SDKs: make one, revoke one."""
