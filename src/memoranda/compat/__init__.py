"""The public names of other packages, for a change of one import line."""
