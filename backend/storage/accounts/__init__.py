"""Organizations, and what belongs to them: keys, domains, origins, apps and limits."""
