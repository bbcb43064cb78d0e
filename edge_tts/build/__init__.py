"""Provisioning: checkpoints become voices. May need torch; never imported at run time."""
