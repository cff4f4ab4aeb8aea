"""Reports of runs: text for terminals, JSON, JUnit XML, Markdown."""
