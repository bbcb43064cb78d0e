"""Text front end: what is written becomes what is said."""
