"""Kernels as values, and rows that are no numbers."""
