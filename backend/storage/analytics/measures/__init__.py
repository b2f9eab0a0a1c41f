"""The measures of a query of analytics, in SQL: clicks, installs and sales."""
