"""The SDK: the facade `Memory` and the seam it talks through. Needs pydantic and httpx, nothing else."""
