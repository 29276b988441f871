"""Which machine, which settings, which columns, and how good it is."""
