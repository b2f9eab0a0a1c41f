"""Tests of everything, from the outside where that can be."""

import os
import sys

# Trio is there for Selenium. Hypothesis and httpcore would load it for what runs on it, which nothing here
# does, in every process of tests.
os.environ.setdefault("HYPOTHESIS_NO_PLUGINS", "1")
sys.modules["trio"] = None  # type: ignore[assignment]
