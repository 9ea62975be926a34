"""A project as a file of JSON lines, and back: export and import."""
