"""Speech over HTTP: a process of its own with one voice, see docs/http.md."""
