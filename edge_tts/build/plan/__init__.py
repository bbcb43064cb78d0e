"""What a voice will take of a machine, before it is built or the machine is at hand."""
