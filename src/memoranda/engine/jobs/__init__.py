"""Background work: the durable queue, the worker that runs it, and what becomes of what fails."""
