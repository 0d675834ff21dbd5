"""What happens to each job. Plain Python: tested without a Worker, a queue or a network."""

BASE_DELAY_S = 2
MAX_DELAY_S = 3600


def check_job(job):
    """Return the job, or raise ValueError: what can never succeed must not enter the queue."""
    if not isinstance(job, dict) or not isinstance(job.get("text"), str):
        raise ValueError('a job is an object with a "text"')
    if not isinstance(job.get("fail_times", 0), int):
        raise ValueError('"fail_times" is a whole number')
    return job


def backoff_s(attempts):
    """Seconds to wait after the given number of deliveries: 2, 4, 8, ... up to an hour."""
    return min(BASE_DELAY_S**attempts, MAX_DELAY_S)


async def perform(job, attempt):
    """Do the work. Raise to have the job tried again later. Yours to replace."""
    if attempt <= job.get("fail_times", 0):
        raise RuntimeError(f"told to fail attempt {attempt}")
    print(f"Done: {job['text']}")


async def work_through(batch):
    """Settle every message by itself: one bad job does not repeat the good ones."""
    for message in batch.messages:
        try:
            await perform(message.body, message.attempts)
        except Exception as error:
            delay_s = backoff_s(message.attempts)
            print(f"Attempt {message.attempts} failed ({error}); next one in {delay_s} s")
            message.retry(delaySeconds=delay_s)
        else:
            message.ack()


def report_dead(batch):
    """Say what was given up on. A real project would store it or tell somebody."""
    for message in batch.messages:
        print(f"Gave up on {message.id}: {message.body}")
        message.ack()
