"""How people get in: the rules, and the links that set new passwords."""
