"""Train a small lite voice on the default voice's speech. Needs torch and transformers."""
