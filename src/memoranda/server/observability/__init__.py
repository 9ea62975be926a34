"""What an operator sees of a server: logs, metrics and traces. None of them holds content, secrets or ids of users."""
