"""Cloudflare's limits on queues, one named constant each. Not policy: nothing here decides.

Sources: [limits] https://developers.cloudflare.com/queues/platform/limits/
[configure] https://developers.cloudflare.com/queues/configuration/configure-queues/
[batching] https://developers.cloudflare.com/queues/configuration/batching-retries/
[pull] https://developers.cloudflare.com/queues/configuration/pull-consumers/
[runtime] what workerd's own broker enforces and says.
One KB is 1000 bytes and one GB is 10**9 bytes, as in [limits].
"""

from __future__ import annotations

#: [limits] message size: 128 KB of serialized body.
MAX_MESSAGE_BYTES = 128_000
#: [limits] messages per ``sendBatch``.
MAX_SEND_BATCH_COUNT = 100
#: [limits] total size per ``sendBatch``: 256 KB. Miniflare allows 288 000; production does not.
MAX_SEND_BATCH_BYTES = 256_000
#: [limits] longest delay of a send or a retry: 24 hours.
MAX_DELAY_S = 86_400
#: [limits] backlog of one queue: 25 GB, counting delayed messages.
MAX_BACKLOG_BYTES = 25_000_000_000

#: [limits] how long a message is kept: four days unless the queue says otherwise.
DEFAULT_RETENTION_S = 345_600
MIN_RETENTION_S = 60
MAX_RETENTION_S = 1_209_600

#: [configure] messages per delivered batch.
DEFAULT_BATCH_SIZE = 10
MAX_BATCH_SIZE = 100
#: [configure] seconds the first waiting message waits for company.
DEFAULT_BATCH_TIMEOUT_S = 5
MAX_BATCH_TIMEOUT_S = 60
#: [batching] retries after the first delivery: 3 retries are 4 deliveries.
DEFAULT_MAX_RETRIES = 3
MAX_RETRIES = 100
#: [limits] batches of one queue in flight at once.
MAX_CONCURRENCY = 250

#: [pull] messages of one pull, and for how long they are leased: 30 seconds, at most 12 hours.
DEFAULT_PULL_BATCH_SIZE = 5
MAX_PULL_BATCH_SIZE = 100
DEFAULT_VISIBILITY_TIMEOUT_MS = 30_000
MAX_VISIBILITY_TIMEOUT_MS = 43_200_000
#: Leases named in one acknowledgement. The service documents no limit; this one bounds a turn.
MAX_ACKS = 10_000

#: [limits] wall time of one consumer invocation: 15 minutes.
MAX_CONSUMER_WALL_MS = 900_000

#: [runtime] the content types a message can declare.
CONTENT_TYPES = frozenset({"text", "json", "bytes", "v8"})
