"""The tables of an organization's file of columns, and how they are written."""
