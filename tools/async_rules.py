"""What the generator of `AsyncMemory` turns into what: the files, and the words that differ between the colours."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from tools.async_convert import Dialect

SDK = "src/memoranda/sdk"
TESTS = "tests/sdk"


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """One file to generate; `names` are identifiers, `texts` any words of the result, replaced in order."""

    source: str
    result: str
    dialect: Dialect
    names: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)


def _last(node: ast.expr) -> str | None:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None


# --- the facade

# What the facade talks to: any call of a method of these waits.
_SEAM = frozenset({"runtime", "client", "management"})


def _facade_waits(call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Attribute):
        return _last(call.func) == "open_engine"
    if call.func.attr == "close":
        return True
    return _last(call.func.value) in _SEAM


_FACADE = Dialect(
    is_awaited=_facade_waits,
    is_entered=lambda _: False,
    asynchronous_classes=frozenset({"MemoryRuntime", "MemoryCrudClient", "MemoryManagement"}),
    functions={"__enter__": "__aenter__", "__exit__": "__aexit__"},
)

_PART = {"The part of `Memory`": "The part of `AsyncMemory`"}
_MADE = """\
    Make one with `Memory.open("memory.db")` for a local file, with connection settings for a service, or with a
    `runtime` of your own. A handle may be used from many threads.
"""
_ASYNC_MADE = """\
    Make one with `await AsyncMemory.open("memory.db")` for a local file, with connection settings for a service, or
    with a `runtime` of your own. A handle may be used from many tasks, and from several event loops.

    Calls of a service wait natively, without any thread. Each event loop has connections of its own there, which end
    with the loop (`asyncio.run`) or with `close`.

    A call of a runtime that blocks, as the engine in this process does, takes one hop to a thread of the handle's own:
    the loop goes on, and when the task is cancelled the call is made whole or not at all.
"""
_ASYNC_CLOSE = '''    async def aclose(self) -> None:
        """Close; the name that `contextlib.aclosing` looks for."""
        await self.close()

'''

_FACADE_TARGETS = tuple(
    Target(f"{SDK}/{name}", f"{SDK}/aio/{name}", _FACADE, names, texts)
    for name, names, texts in (
        ("_handle.py", {"Connection": "AsyncConnection"}, {"parts of `Memory`": "parts of `AsyncMemory`"}),
        ("_turns.py", {}, _PART),
        ("_context.py", {}, _PART),
        ("_search.py", {"MemoryRuntime": "AsyncMemoryRuntime"}, _PART),
        ("_records.py", {}, _PART),
        ("_custom.py", {}, _PART),
        ("_management.py", {}, _PART),
        (
            "protocol.py",
            {"MemoryRuntime": "AsyncMemoryRuntime", "MemoryCrudClient": "AsyncMemoryCrudClient"},
            {
                "The seam between the facade and": "The seam between the asynchronous facade and",
                "`MemoryRuntime` and `MemoryCrudClient` are": "`AsyncMemoryRuntime` and\n`AsyncMemoryCrudClient` are",
                "`MemoryManagement` is ours alone": "`AsyncMemoryManagement` is ours alone",
            },
        ),
        ("_management_port.py", {"MemoryManagement": "AsyncMemoryManagement"}, {}),
        (
            "memory.py",
            {"Memory": "AsyncMemory", "Connection": "AsyncConnection"},
            {
                "`Memory`: one facade": "`AsyncMemory`: one facade",
                _MADE: _ASYNC_MADE,
                "AsyncConnection(service, service, owned=service)": "ServiceConnection(service)",
                "_connection import AsyncConnection": "_connection import AsyncConnection, ServiceConnection",
                "    async def open(": "    @awaited_or_entered\n    async def open(",
                "_opening import open_engine": "_opening import awaited_or_entered, open_engine",
                "with the engine in this process.\n\n": "with the engine in this process.\n\n"
                '        `await` it, or enter it: `async with AsyncMemory.open("memory.db") as memory`.\n',
                "    async def __aenter__": _ASYNC_CLOSE + "    async def __aenter__",
            },
        ),
    )
)

# --- the runtime over HTTP

# What its parts call: methods of the transport, and the transport's own of the pool.
_HTTP_CALLS = frozenset({"send", "find", "close", "require_memoranda", "_answer", "_pause", "_search", "_deleted"})


def _http_waits(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in _HTTP_CALLS | {"_counted"}


_HTTP = Dialect(is_awaited=_http_waits, is_entered=lambda _: False)
_ENGINE_NAMES = {
    name: f"Async{name}" for name in ("MemoryRuntime", "MemoryCrudClient", "MemoryManagement", "Closeable")
}

_HTTP_TARGETS = tuple(
    Target(f"{SDK}/{name}", f"{SDK}/aio/{name}", _HTTP, names, texts)
    for name, names, texts in (
        (
            "_transport.py",
            {"Transport": "AsyncTransport", "Pool": "AsyncPool"},
            {
                "import Callable": "import Awaitable, Callable",
                "Callable[[float], None]": "Callable[[float], Awaitable[None]]",
            },
        ),
        (
            "_direct_crud.py",
            {"DirectCrud": "AsyncDirectCrud", "Transport": "AsyncTransport"},
            {"`MemoryCrudClient` of": "`AsyncMemoryCrudClient` of"},
        ),
        (
            "_http_management.py",
            {"HttpManagement": "AsyncHttpManagement", "Transport": "AsyncTransport"},
            {"`MemoryManagement` of": "`AsyncMemoryManagement` of"},
        ),
        (
            "_http_runtime.py",
            {
                "HttpMemoryRuntime": "AsyncHttpMemoryRuntime",
                "DirectCrud": "AsyncDirectCrud",
                "HttpManagement": "AsyncHttpManagement",
                "Transport": "AsyncTransport",
            },
            {
                "`MemoryRuntime`, `MemoryCrudClient` and `MemoryManagement`": "`AsyncMemoryRuntime`, "
                "`AsyncMemoryCrudClient` and `AsyncMemoryManagement`",
                "import Callable": "import Awaitable, Callable",
                "Callable[[float], None]": "Callable[[float], Awaitable[None]]",
            },
        ),
        (
            "_connecting.py",
            _ENGINE_NAMES | {"HttpMemoryRuntime": "AsyncHttpMemoryRuntime"},
            {
                "from the facade to HTTP": "from the asynchronous facade to HTTP",
                "_connection import AsyncCloseable": "aio._opening import AsyncCloseable",
                "memoranda.sdk._http_runtime import HttpMemoryRuntime": "memoranda.sdk.aio._http_runtime import "
                "AsyncHttpMemoryRuntime",
            },
        ),
    )
)

# --- what hosts of agents stand on

_APP_BOUND = Target(
    f"{SDK}/_app_bound.py",
    f"{SDK}/aio/_app_bound.py",
    Dialect(is_awaited=lambda _: False, is_entered=lambda _: False, functions={"close": "close"}),
    {
        "Connection": "AsyncConnection",
        "MemoryRuntime": "AsyncMemoryRuntime",
        "MemoryCrudClient": "AsyncMemoryCrudClient",
        "MemoryManagement": "AsyncMemoryManagement",
    },
)

_HOST_CALLS = frozenset(
    {"record_turn", "_record", "_begin", "_cut_off", "reply", "_keep", "_keep_part", "_end_early", "call", "close"}
)


def _host_waits(call: ast.Call) -> bool:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr in _HOST_CALLS
    return _last(call.func) in {"agent", "next"}


_HOST = Target(
    f"{SDK}/ambient.py",
    f"{SDK}/aio/ambient.py",
    Dialect(
        is_awaited=_host_waits,
        is_entered=lambda node: isinstance(node, ast.Call) and ast.unparse(node.func) == "self.run",
        asynchronous_classes=frozenset({"Agent"}),
        functions={"__enter__": "__aenter__", "__exit__": "__aexit__"},
    ),
    {
        "Agent": "AsyncAgent",
        "AgentHost": "AsyncAgentHost",
        "AgentRun": "AsyncAgentRun",
        "Generator": "AsyncGenerator",
        "Iterator": "AsyncIterator",
        "Memory": "AsyncMemory",
        "StopIteration": "StopAsyncIteration",
        "StreamingAgent": "AsyncStreamingAgent",
        "next": "anext",
    },
    {
        '"""`AgentHost`: run': '"""`AsyncAgentHost`: run',
        "host = AgentHost(memory)\n    with": "host = AsyncAgentHost(memory)\n    async with",
        "run.reply(answer(question, run.memory))  #": "await run.reply(await answer(question, run.memory))  #",
        "`AgentHost.": "`AsyncAgentHost.",
        "import Callable, AsyncGenerator": "import Awaitable, Callable, AsyncGenerator",
        "AsyncGenerator[T, None, None]": "AsyncGenerator[T, None]",
        "[[str, AsyncMemory], T]": "[[str, AsyncMemory], Awaitable[T]]",
        'calls: ClassVar[tuple[str, ...]] = ("function",)': 'calls: ClassVar[tuple[str, ...]] = ("function", '
        '"coroutine function")',
        '("function", "generator function")': '("function", "asynchronous generator function")',
        "await pieces.close()": "await pieces.aclose()",
        "contextlib.closing": "contextlib.aclosing",
        "`AgentHost` is for functions and generators; use\n    `AsyncAgentHost` over an `AsyncMemory` for coroutine "
        "functions and asynchronous generators.": "`AsyncAgentHost` is for coroutine\n    functions and asynchronous "
        "generators; use `AgentHost` over a `Memory` for functions and generators.",
    },
)

_HOST_TARGETS = (_APP_BOUND, _HOST)

# --- its tests

_HANDLES = frozenset({"memory", "m", "bound", "unbound"})
_MAKERS = frozenset({"over", "connected", "Memory", "Ours"})
_IMMEDIATE = frozenset({"bind", "open", "_over"})
_CALLS = frozenset({"call", "use"})
_BUILT_IN = frozenset({"getattr", "type", "isinstance"})


def _is_handle(node: ast.expr) -> bool:
    if isinstance(node, ast.Name):
        return node.id in _HANDLES
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute):
        return node.func.attr == "bind" and _is_handle(node.func.value)
    return _last(node.func) in _MAKERS


def _opens(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "Memory.open"


def _test_waits(call: ast.Call) -> bool:
    if isinstance(call.func, ast.Attribute):
        return _opens(call) or (_is_handle(call.func.value) and call.func.attr not in _IMMEDIATE)
    if isinstance(call.func, ast.Call):
        return _last(call.func.func) == "getattr" and _is_handle(call.func.args[0])
    if _last(call.func) in _CALLS:
        return True
    return bool(call.args) and _is_handle(call.args[0]) and _last(call.func) not in _BUILT_IN


_TEST = Dialect(is_awaited=_test_waits, is_entered=lambda node: _is_handle(node) or _opens(node), copies=True)
_TEST_NAMES = {"Memory": "AsyncMemory"}

_TEST_TARGETS = tuple(
    Target(f"{TESTS}/{name}", f"{TESTS}/aio/{name.replace('test_', 'test_async_')}", _TEST, _TEST_NAMES | names, texts)
    for name, names, texts in (
        ("test_construction.py", {}, {}),
        ("test_forwarding.py", {"over": "over_async"}, {}),
        ("test_identity.py", {"over": "over_async"}, {}),
        ("test_lifecycle.py", {"over": "over_async", "Connection": "AsyncConnection"}, {}),
        ("test_local_validation.py", {"over": "over_async"}, {}),
        ("test_management_calls.py", {"over": "over_async"}, {}),
        ("test_open.py", {}, {"`Memory.open`": "`AsyncMemory.open`"}),
        ("http/test_connection.py", {}, {}),
    )
)

_HTTP_TEST_TARGETS = tuple(
    Target(
        f"{TESTS}/http/test_{name}.py",
        f"{TESTS}/aio/http/test_async_{name}.py",
        _TEST,
        {"connected": "connected_async"},
    )
    for name in ("bodies", "errors", "own_calls", "requests")
)

TARGETS = _FACADE_TARGETS + _HTTP_TARGETS + _HOST_TARGETS + _TEST_TARGETS + _HTTP_TEST_TARGETS

# What is written by hand beside the generated files: names that the asynchronous colour takes from there.
BY_HAND = {
    "memoranda.sdk._connection": ("memoranda.sdk.aio._connection", {"AsyncConnection"}),
    "memoranda.sdk._pool": ("memoranda.sdk.aio._pool", {"AsyncPool", "pause"}),
    "memoranda.sdk._opening": ("memoranda.sdk.aio._opening", {"open_engine"}),
    "memoranda": ("memoranda", {"AsyncMemory"}),
    "tests.sdk.recording": ("tests.sdk.recording", {"over_async"}),
    "tests.sdk.http.connecting": ("tests.sdk.http.connecting", {"connected_async"}),
}
