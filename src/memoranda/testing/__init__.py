"""Conformance suites that ship with the package: any adapter of a port can prove itself with them."""
