"""What a process has of its machine: the clock, files, the interpreter and settings as texts."""
