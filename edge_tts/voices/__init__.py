"""Voices: one folder per model family behind one interface."""
