"""Answer calls whose result depends on the arguments only: arithmetic, dates, texts."""
