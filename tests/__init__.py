"""Tests of everything, from the outside where that can be."""

import os

# Hypothesis would load Trio for what runs on it, which nothing here does, in every process of tests.
os.environ.setdefault("HYPOTHESIS_NO_PLUGINS", "1")
