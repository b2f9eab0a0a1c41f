"""What a query of analytics asks for, as conditions in SQL."""
