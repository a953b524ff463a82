"""Context compaction: capacity, estimate, projection. Pure, like `sessions`, on which alone it builds."""
