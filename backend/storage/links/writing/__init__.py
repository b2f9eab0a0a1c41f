"""How links are created, changed, held and archived."""
