"""What Alembic runs: the migrations, on the connection and in the transaction that the caller holds."""

from alembic import context

from memoranda.stores.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
