"""The endpoints of the API, one entry each. This is the only list of them."""

from __future__ import annotations

from typing import Final

from tsumugi.jobs.api import bindings, bulk, figures, jobs, models
from tsumugi.jobs.api.openapi import document
from tsumugi.jobs.api.routing import Route
from tsumugi.jobs.api.values import Answer, Call

_LAGS = "Reads the read model, which is about a second behind the shards."
_SHARD = "Asks the job's shard, which decides."


async def openapi(_call: Call) -> Answer:
    return Answer(body=document(ROUTES))


ROUTES: Final = (
    Route(
        method="GET",
        path="/api/jobs",
        endpoint=jobs.list_jobs,
        name="listJobs",
        summary="List jobs",
        description=f"{_LAGS} Filters combine with AND; ids and keys match exactly.",
        query=models.ListQuery,
        answer=models.JobList,
        refusals=(400, 503),
    ),
    Route(
        method="POST",
        path="/api/jobs",
        endpoint=jobs.create_job,
        name="createJob",
        summary="Enqueue a job",
        description="With a unique key that is taken, the job that has it is answered.",
        body=models.CreateJobRequest,
        status=201,
        answer=models.CreatedJob,
        refusals=(400, 503),
    ),
    Route(
        method="POST",
        path="/api/jobs/bulk-retry",
        endpoint=bulk.bulk_retry,
        name="bulkRetryJobs",
        summary="Retry many jobs that are FAILED or STALLED",
        description="Others are named in failed. At most 200 in one call.",
        body=models.BulkRequest,
        answer=models.BulkResult,
        refusals=(400, 503),
    ),
    Route(
        method="POST",
        path="/api/jobs/bulk-cancel",
        endpoint=bulk.bulk_cancel,
        name="bulkCancelJobs",
        summary="Cancel many jobs that are SCHEDULED",
        description="Others are named in failed. At most 200 in one call.",
        body=models.BulkRequest,
        answer=models.BulkResult,
        refusals=(400, 503),
    ),
    Route(
        method="GET",
        path="/api/jobs/{id}",
        endpoint=jobs.show_job,
        name="getJob",
        summary="Show a job with its attempts and logs",
        description=f"{_SHARD} Of a job that left its shard, the read model's copy is shown.",
        answer=models.JobAnswer,
        refusals=(400, 404, 503),
    ),
    Route(
        method="POST",
        path="/api/jobs/{id}/retry",
        endpoint=jobs.retry_job,
        name="retryJob",
        summary="Retry a job that is FAILED or STALLED",
        description=_SHARD,
        answer=models.Mutation,
        refusals=(400, 404, 409, 410, 503),
    ),
    Route(
        method="POST",
        path="/api/jobs/{id}/cancel",
        endpoint=jobs.cancel_job,
        name="cancelJob",
        summary="Cancel a job that is SCHEDULED",
        description=f"{_SHARD} Any later the job may have run already.",
        answer=models.Mutation,
        refusals=(400, 404, 409, 410, 503),
    ),
    Route(
        method="POST",
        path="/api/jobs/{id}/reschedule",
        endpoint=jobs.reschedule_job,
        name="rescheduleJob",
        summary="Change when a job that is SCHEDULED runs, or its priority",
        description=f"{_SHARD} Its id and its unique key stay.",
        body=models.RescheduleRequest,
        answer=models.Mutation,
        refusals=(400, 404, 409, 410, 503),
    ),
    Route(
        method="GET",
        path="/api/stats",
        endpoint=figures.stats,
        name="getStats",
        summary="Count jobs by state and binding",
        description=_LAGS,
        answer=models.Stats,
        refusals=(503,),
    ),
    Route(
        method="GET",
        path="/api/metrics",
        endpoint=figures.metrics,
        name="getMetrics",
        summary="Failure rates and durations of jobs that ended",
        description="Asks Analytics Engine, which keeps them longer than the read model.",
        query=models.MetricsQuery,
        answer=models.Metrics,
        refusals=(400, 501, 502),
    ),
    Route(
        method="GET",
        path="/api/diagnostics",
        endpoint=bindings.diagnose,
        name="getDiagnostics",
        summary="Say of each binding what runs, what does not, and why",
        description="Asks every shard.",
        query=models.DiagnosticsQuery,
        answer=models.DiagnosticsAnswer,
        refusals=(400, 404, 503),
    ),
    Route(
        method="GET",
        path="/api/bindings",
        endpoint=bindings.list_bindings,
        name="listBindings",
        summary="List the bindings jobs can be enqueued for",
        answer=models.BindingList,
    ),
    Route(
        method="PATCH",
        path="/api/bindings/{binding}/policy",
        endpoint=bindings.change_policy,
        name="changePolicy",
        summary="Change the limits of a binding, pause or resume it",
        description="On every shard; it outranks the code until reverted with the body null.",
        body=models.PolicyChange,
        null_body=True,
        answer=models.PolicyResult,
        refusals=(400, 404, 500, 503),
    ),
    Route(
        method="POST",
        path="/api/bindings/{binding}/policy",
        endpoint=bindings.change_policy,
        name="updatePolicy",
        summary="The same as PATCH",
        description="For clients that know this method.",
        body=models.PolicyChange,
        null_body=True,
        answer=models.PolicyResult,
        refusals=(400, 404, 500, 503),
    ),
    Route(
        method="POST",
        path="/api/bindings/{binding}/policy/reset",
        endpoint=bindings.reset_policy,
        name="resetPolicy",
        summary="Go back to the limits in the code",
        description="On every shard.",
        answer=models.Mutation,
        refusals=(404, 500, 503),
    ),
    Route(
        method="GET",
        path="/api/openapi.json",
        endpoint=openapi,
        name="getOpenApi",
        summary="This document",
    ),
)
