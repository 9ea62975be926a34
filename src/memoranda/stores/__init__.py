"""Adapters of the engine's `Store` port, one package a database, over one schema."""
