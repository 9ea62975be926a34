"""The demonstration: a conversation that the package carries, and the script that shows what becomes of it."""
