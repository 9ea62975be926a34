"""Speed and recall, measured against floors in the same run: `python -m bench` (see docs/performance.md)."""
