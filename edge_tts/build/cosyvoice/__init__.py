"""Provisioning of CosyVoice voices: read an official checkpoint, export it, write a voice."""
