"""What the routes take: one model a request."""
