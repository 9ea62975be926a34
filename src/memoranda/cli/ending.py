"""How a command ends: the exit codes, and errors as the one line that a person reads."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import memoranda

OK: Final = 0
FAILED: Final = 1
USAGE: Final = 2
KEPT: Final = 3
INTERRUPTED: Final = 130
UNREAD: Final = 141

EXIT_CODES: Final[dict[int, str]] = {
    OK: "done",
    FAILED: "the operation failed",
    USAGE: "wrong usage: a flag, a file, a line or a store",
    KEPT: "done in part: work ended as a failure that is kept, or was not finished in time",
    INTERRUPTED: "interrupted (Ctrl-C)",
    UNREAD: "the reader of the output went away",
}


class CommandError(Exception):
    """A command that ends early; `message` is what its user reads, `exit_code` one of `EXIT_CODES`."""

    def __init__(self, message: str, exit_code: int = FAILED) -> None:
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code


class WrongUsageError(CommandError):
    """What the user typed, or the file it names, is wrong."""

    def __init__(self, message: str) -> None:
        super().__init__(message, USAGE)


@contextmanager
def told_in_one_line() -> Iterator[None]:
    """Turn the errors that a command's user can cause or meet into `CommandError`; a bug keeps its traceback."""
    try:
        yield
    except BrokenPipeError as error:
        raise CommandError("", UNREAD) from error
    except TimeoutError as error:
        raise CommandError(str(error), KEPT) from error
    except (memoranda.MemoryAPIError, OSError) as error:
        raise CommandError(str(error)) from error
    except ValueError as error:
        # The facade's word for an argument that is wrong; what was typed has been named by the message.
        raise WrongUsageError(str(error)) from error


def complain(message: str) -> None:
    """Print one line on stderr; line breaks inside the message become blanks."""
    if message:
        print(f"memoranda: {' '.join(message.split())}", file=sys.stderr)


def give_up_stdout() -> None:
    """Point stdout at nothing, so that the interpreter's last flush cannot fail again."""
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):  # not a real file, in a test
        return
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
