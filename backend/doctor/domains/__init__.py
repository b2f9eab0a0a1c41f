"""Examines link domains: DNS, certificate, answers, and the files that phones fetch."""
