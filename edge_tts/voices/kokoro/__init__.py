"""Kokoro-82M: a style-based, non-autoregressive voice for English and Chinese."""
