"""Commands for organizations, their users, keys, domains, origins and apps."""
