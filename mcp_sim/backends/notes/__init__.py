"""Lists of notes without ids: match their tools, read given entries, and operate on a list."""
