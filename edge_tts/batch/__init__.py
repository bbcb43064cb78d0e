"""Many texts to many files, or one long text to one file with subtitles."""
