"""Where links may lead, and whether what they lead to is still there."""
