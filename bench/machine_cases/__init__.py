"""Cases of bench/machines.py: rules, rows, and one file for each kind of machine."""
