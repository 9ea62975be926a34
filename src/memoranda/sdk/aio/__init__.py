"""`AsyncMemory`: the facade for programs that run an event loop.

The parts of the facade are generated from those of `Memory`; what waits (threads, opening, closing) is written here.
"""
