"""Imports links from files and spreadsheets, and reads costs of campaigns from them."""
