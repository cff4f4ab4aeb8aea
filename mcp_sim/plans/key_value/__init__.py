"""Values under keys: match the tools of a store, read given entries, and operate on them."""
