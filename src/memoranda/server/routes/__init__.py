"""The routes, one module a subject; a handler parses nothing and decides nothing that the runtime decides."""
