"""Single clicks and sales, which figures are made of: those that pass a query's filters."""
