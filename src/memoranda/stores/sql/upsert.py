"""INSERT with ON CONFLICT, one construct for all databases.

The two dialects of SQLAlchemy speak the same SQL here; PostgreSQL's construct compiles for SQLite as it is, while the
reverse does not.
"""

from sqlalchemy.dialects.postgresql import insert

__all__ = ["insert"]
