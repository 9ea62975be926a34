"""The memory engine: it knows no driver, no HTTP and no provider, only the ports it owns."""
