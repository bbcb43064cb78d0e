"""The fast voice: a streaming generator distilled from Kokoro's own speech.

corpus → teacher → train → evaluate → export. Run it with `scripts/train_fast_voice.sh`; the design
and its figures are in docs/fast_voice.md.
"""
