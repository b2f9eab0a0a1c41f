"""Customers over time: cohorts, the time from a click to a sale, and new and returning customers.

The functions here say what is meant. storage/analytics/cohorts answers the same from columns.
"""
