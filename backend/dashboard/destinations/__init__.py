"""Where the organization's links may lead."""
