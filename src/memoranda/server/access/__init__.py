"""Who may do what: principals, service accounts, tokens."""
