"""The announcer service."""
