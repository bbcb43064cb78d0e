"""Text to EnCodec codes by a T5 encoder-decoder, and codes to sound."""
