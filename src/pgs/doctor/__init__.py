"""`pgs doctor`: looks at everything that a start depends on, and changes nothing."""
