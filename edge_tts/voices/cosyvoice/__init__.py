"""The CosyVoice family: a language model of speech tokens, a flow to mel, and a vocoder."""
