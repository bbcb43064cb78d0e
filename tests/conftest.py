"""What holds for every test: the same examples in every run, and no test of the machine's speed."""

from hypothesis import settings

settings.register_profile("edge_tts", deadline=None, derandomize=True)
settings.load_profile("edge_tts")
