"""The memory server: HTTP routes over the runtime, with tenancy and access."""
