"""How benchmarks measure: servers and load, questions, bytes, and how much figures differ."""
