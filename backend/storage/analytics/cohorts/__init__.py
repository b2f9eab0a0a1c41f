"""Cohorts, the time to a sale, and new and returning customers, from columns.

domain/analytics/cohorts has the same in Python, for a list of sales.
"""
