"""Provisioning of the Kokoro voice: fetch, clean, split, optimise and check the published graph."""
