"""Mercer beside its peers: `./dev bench train|predict|search|report`."""
