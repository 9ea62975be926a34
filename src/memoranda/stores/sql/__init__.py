"""What every SQL database does alike: statements, rows and transactions."""
