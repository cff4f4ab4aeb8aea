"""Files and directories: paths, a tree over a view of the state, operations, and the files of a given state."""
