"""The public names of `oracleagentmemory`, so that a program moves by changing its import line.

::

    from memoranda.compat.oracleagentmemory.core import OracleAgentMemory

Names only: each is Memoranda's own, with the other package's defaults where a switch says so. What has no counterpart
here (`memoranda.compat.oracleagentmemory.absent`) can be imported and says so when it is used.
"""

from memoranda import __version__

__all__ = ["__version__"]
