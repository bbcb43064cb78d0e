"""Reading rules: recognisers find what is written, verbalisers say it in one language."""
