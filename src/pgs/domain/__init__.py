"""The rules of the service, pure: no clock, no randomness, no input or output."""
