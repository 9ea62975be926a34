"""From a query to ranked records: plan, legs, fusion, neighbours, rerank, near-duplicates."""
