"""Embedders, chat models, rerankers and token counters; each is imported only when it is named."""
