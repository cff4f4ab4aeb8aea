"""Version control: a repository with files, an index, commits, branches, tags and remotes."""
