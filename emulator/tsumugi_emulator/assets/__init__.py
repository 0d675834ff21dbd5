"""Static assets: which file a path means, and its answer. Knows no Worker and no server."""
