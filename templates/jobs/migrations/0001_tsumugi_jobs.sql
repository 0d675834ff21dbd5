-- The read model of tsumugi jobs: one row per job, as its shard last told it.
-- Written by the shards and read by the REST API. Nothing is decided from it.

CREATE TABLE tsumugi_jobs (
  -- <binding>#<shard>:<local>
  id TEXT NOT NULL PRIMARY KEY,
  -- Grows with every change of the job: a row never goes back to an older one.
  version INTEGER NOT NULL,
  binding TEXT NOT NULL,
  shard INTEGER NOT NULL,
  state TEXT NOT NULL,
  priority INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  max_attempts INTEGER NOT NULL,
  guarantee TEXT NOT NULL,
  concurrency_key TEXT,
  unique_key TEXT,
  progress REAL,
  -- Times are whole milliseconds since 1970.
  created_at INTEGER NOT NULL,
  ready_at INTEGER NOT NULL,
  queued_at INTEGER,
  started_at INTEGER,
  finished_at INTEGER,
  expires_at INTEGER,
  updated_at INTEGER NOT NULL,
  -- JSON: what is shown of a single job only, such as payload, result, attempts_log and logs.
  detail TEXT NOT NULL
) STRICT;

CREATE INDEX tsumugi_jobs_by_update ON tsumugi_jobs (updated_at);
CREATE INDEX tsumugi_jobs_by_state ON tsumugi_jobs (state, updated_at);
CREATE INDEX tsumugi_jobs_by_binding ON tsumugi_jobs (binding, updated_at);
CREATE INDEX tsumugi_jobs_by_creation ON tsumugi_jobs (created_at);
CREATE INDEX tsumugi_jobs_by_concurrency_key ON tsumugi_jobs (concurrency_key, updated_at)
  WHERE concurrency_key IS NOT NULL;
CREATE INDEX tsumugi_jobs_by_unique_key ON tsumugi_jobs (unique_key, updated_at)
  WHERE unique_key IS NOT NULL;
CREATE INDEX tsumugi_jobs_waiting ON tsumugi_jobs (state, created_at) WHERE state = 'SCHEDULED';

-- How many jobs are where. Kept with every write, so that counting never reads the jobs.
CREATE TABLE tsumugi_job_counts (
  binding TEXT NOT NULL,
  state TEXT NOT NULL,
  jobs INTEGER NOT NULL,
  PRIMARY KEY (binding, state)
) STRICT, WITHOUT ROWID;

-- Which of these files were applied, whatever they are called in the project.
CREATE TABLE tsumugi_migrations (
  name TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;

INSERT INTO tsumugi_migrations (name) VALUES ('0001_tsumugi_jobs');
