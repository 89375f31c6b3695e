"""The command line: its commands and options, and how it prints answers and errors."""
