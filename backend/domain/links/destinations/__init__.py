"""Where links lead: what a visitor gets, and where links may lead at all."""
