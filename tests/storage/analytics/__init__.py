"""Tests of an organization's facts in columns."""
