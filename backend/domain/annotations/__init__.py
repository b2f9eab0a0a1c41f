"""Annotations: notes at a day or a time, which charts show beside what was counted."""
