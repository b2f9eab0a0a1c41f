"""The process's machine: its clock, files, Python interpreter and environment variables."""
