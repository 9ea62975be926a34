"""What any adapter of the ``Store`` port must do, one small class for each capability.

An adapter proves itself by subclassing every class and giving one fixture, ``store``: an open, empty store::

    class TestTurns(store_suite.TurnRules):
        @pytest.fixture
        def store(self, tmp_path): ...

What not every database can do is a requirement with a name (``Requirements``), declared by the adapter; no test asks
which database it runs on.
"""

from memoranda.testing.store_suite.base import Requirements, StoreRules
from memoranda.testing.store_suite.changes import ChangeRules
from memoranda.testing.store_suite.control import ControlRules
from memoranda.testing.store_suite.failures import FailureRules
from memoranda.testing.store_suite.filtering import FilterRules
from memoranda.testing.store_suite.images import ImageRules
from memoranda.testing.store_suite.jobs import JobRules, LeaseRules
from memoranda.testing.store_suite.memories import HistoryRules, MemoryRules, SlotRules
from memoranda.testing.store_suite.portable import PortableRules
from memoranda.testing.store_suite.projects import ProjectRules
from memoranda.testing.store_suite.relations import LinkRules, ProfileRules, SourceRules
from memoranda.testing.store_suite.sessions import SessionRules, SnapshotRules
from memoranda.testing.store_suite.text import IndexRules, TextRules
from memoranda.testing.store_suite.tombstones import TombstoneRules
from memoranda.testing.store_suite.transactions import TransactionRules
from memoranda.testing.store_suite.turns import TurnRules
from memoranda.testing.store_suite.vectors import VectorRules

ALL_RULES = (
    ChangeRules,
    ControlRules,
    FailureRules,
    FilterRules,
    HistoryRules,
    ImageRules,
    IndexRules,
    JobRules,
    LeaseRules,
    LinkRules,
    MemoryRules,
    PortableRules,
    ProfileRules,
    ProjectRules,
    SessionRules,
    SlotRules,
    SnapshotRules,
    SourceRules,
    TextRules,
    TombstoneRules,
    TransactionRules,
    TurnRules,
    VectorRules,
)
"""Every class of the suite, so that an adapter can check that it left none out."""

__all__ = [
    "ALL_RULES",
    "ChangeRules",
    "ControlRules",
    "FailureRules",
    "FilterRules",
    "HistoryRules",
    "ImageRules",
    "IndexRules",
    "JobRules",
    "LeaseRules",
    "LinkRules",
    "MemoryRules",
    "PortableRules",
    "ProfileRules",
    "ProjectRules",
    "Requirements",
    "SessionRules",
    "SlotRules",
    "SnapshotRules",
    "SourceRules",
    "StoreRules",
    "TextRules",
    "TombstoneRules",
    "TransactionRules",
    "TurnRules",
    "VectorRules",
]
