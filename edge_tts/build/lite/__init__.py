"""Checkpoints of the lite family, a T5 over EnCodec codes, to voices. Needs torch."""
