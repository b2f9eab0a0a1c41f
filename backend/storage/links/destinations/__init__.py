"""Where links may lead, and whether their destinations still answer."""
