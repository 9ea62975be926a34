"""The change feed: what changed in a project, in an order that no reader can miss anything by following."""
