"""The resolution of identity under its other address."""

from memoranda.sdk.identity import resolve_identity

__all__ = ["resolve_identity"]
