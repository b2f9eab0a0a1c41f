"""`waylink doctor`: finds problems of an installation and says how to fix them."""
