"""Graphs in fewer bits: which layers, how, how far off they then are, and a page that shows it."""
