"""One transaction of one project: the rows of every noun over one executor."""

from __future__ import annotations

from functools import cached_property

from memoranda.stores.sql.breakers import SqlBreakerRows
from memoranda.stores.sql.changes import SqlChangeRows
from memoranda.stores.sql.failures import SqlFailureRows
from memoranda.stores.sql.images import SqlImageRows
from memoranda.stores.sql.index import SqlIndexRows
from memoranda.stores.sql.jobs import SqlJobRows
from memoranda.stores.sql.links import SqlLinkRows
from memoranda.stores.sql.memories import SqlMemoryRows
from memoranda.stores.sql.portable import SqlPortableRows
from memoranda.stores.sql.profiles import SqlProfileRows
from memoranda.stores.sql.projects import SqlProjectRows
from memoranda.stores.sql.rebuild import SqlRebuildRows
from memoranda.stores.sql.search import SqlSearchRows
from memoranda.stores.sql.sessions import SqlSessionRows
from memoranda.stores.sql.snapshots import SqlSnapshotRows
from memoranda.stores.sql.sources import SqlSourceRows
from memoranda.stores.sql.statement import Executor
from memoranda.stores.sql.turns import SqlTurnRows
from memoranda.stores.sql.usage import SqlUsageRows
from memoranda.stores.sql.vector_scan import VectorScan


class SqlTransaction:
    """``Transaction`` over SQL; each group of rows is made when it is first used."""

    def __init__(self, sql: Executor, scan: VectorScan) -> None:
        self._sql = sql
        self._scan = scan

    @cached_property
    def projects(self) -> SqlProjectRows:
        return SqlProjectRows(self._sql)

    @cached_property
    def turns(self) -> SqlTurnRows:
        return SqlTurnRows(self._sql)

    @cached_property
    def sessions(self) -> SqlSessionRows:
        return SqlSessionRows(self._sql)

    @cached_property
    def snapshots(self) -> SqlSnapshotRows:
        return SqlSnapshotRows(self._sql)

    @cached_property
    def memories(self) -> SqlMemoryRows:
        return SqlMemoryRows(self._sql)

    @cached_property
    def sources(self) -> SqlSourceRows:
        return SqlSourceRows(self._sql)

    @cached_property
    def links(self) -> SqlLinkRows:
        return SqlLinkRows(self._sql)

    @cached_property
    def profiles(self) -> SqlProfileRows:
        return SqlProfileRows(self._sql)

    @cached_property
    def images(self) -> SqlImageRows:
        return SqlImageRows(self._sql)

    @cached_property
    def index(self) -> SqlIndexRows:
        return SqlIndexRows(self._sql, self._scan)

    @cached_property
    def search(self) -> SqlSearchRows:
        return SqlSearchRows(self._sql, self._scan)

    @cached_property
    def jobs(self) -> SqlJobRows:
        return SqlJobRows(self._sql)

    @cached_property
    def failures(self) -> SqlFailureRows:
        return SqlFailureRows(self._sql)

    @cached_property
    def breakers(self) -> SqlBreakerRows:
        return SqlBreakerRows(self._sql)

    @cached_property
    def usage(self) -> SqlUsageRows:
        return SqlUsageRows(self._sql)

    @cached_property
    def rebuild(self) -> SqlRebuildRows:
        return SqlRebuildRows(self._sql, self._scan)

    @cached_property
    def portable(self) -> SqlPortableRows:
        return SqlPortableRows(self._sql)

    @cached_property
    def changes(self) -> SqlChangeRows:
        return SqlChangeRows(self._sql)
