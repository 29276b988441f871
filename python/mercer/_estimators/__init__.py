"""The machines, one file a family."""
