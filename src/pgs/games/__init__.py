"""The games, one pure module each behind one small interface."""
