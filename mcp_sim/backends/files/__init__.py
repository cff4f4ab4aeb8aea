"""Files and directories as tools see them: paths, a tree over a view, what tools do to it, and what a state holds."""
