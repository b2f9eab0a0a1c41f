"""Where the links of an organization may lead."""
