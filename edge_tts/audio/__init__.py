"""Sound: chunks, joins, levels, files and devices."""
