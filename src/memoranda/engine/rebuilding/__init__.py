"""Making the index anew: other vectors (``reembed``), other terms (``reindex``), and engines that must not miss it."""
