"""The edge-tts command, one module per sub-command."""
