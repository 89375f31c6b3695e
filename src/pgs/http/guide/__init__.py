"""The pages below `/docs/`, rendered once when the service starts."""
