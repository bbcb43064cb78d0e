"""What families built from a torch checkpoint share: parts, their export, and the gate."""
