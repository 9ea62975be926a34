"""What an extractor raises when it cannot give an answer; having nothing to extract is an answer, not an error."""

from __future__ import annotations

from typing import ClassVar

from memoranda.engine.jobs.failure import FailureClass, WorkError


class ExtractionError(WorkError):
    """The extractor failed; the class says whether the same request can succeed later."""


class ExtractionTransientError(ExtractionError):
    """The model was not reached or did not answer in time."""

    failure_class: ClassVar[FailureClass] = FailureClass.TRANSIENT


class ExtractionRateLimitError(ExtractionError):
    """The model asks to wait (``retry_after``)."""

    failure_class: ClassVar[FailureClass] = FailureClass.RATE_LIMIT


class ExtractionCredentialsError(ExtractionError):
    """The model refuses the credentials."""

    failure_class: ClassVar[FailureClass] = FailureClass.CREDENTIALS


class ExtractionRefusedError(ExtractionError):
    """The model refuses the content, or it is too long even after splitting."""

    failure_class: ClassVar[FailureClass] = FailureClass.CONTENT


class ExtractionTooLongError(ExtractionRefusedError):
    """The request is longer than the model takes; the extractor tries it in parts."""


class ExtractionUnusableError(ExtractionError):
    """The reply cannot be read, after one repair; ``raw_reply`` has it."""

    failure_class: ClassVar[FailureClass] = FailureClass.CONTENT
