"""Speech over HTTP: a process beside the service, and a client of it; see docs/http.md."""
