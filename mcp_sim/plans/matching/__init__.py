"""Match tools to the operations of backends."""
