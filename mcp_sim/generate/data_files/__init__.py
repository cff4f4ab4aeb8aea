"""Read records from data files: JSON, YAML, CSV, SQLite, folders."""
