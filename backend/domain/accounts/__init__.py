"""Organizations, and what belongs to them: users, sessions, keys, origins and apps."""
