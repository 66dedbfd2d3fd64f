CREATE OR REPLACE VIEW analytics.ingest_quality AS
SELECT q.day, q.source, q.runs, q.payloads, q.appended, q.duplicates, q.restored_transaction_ids,
    q.rejected, q.rejected_by_reason, q.events, q.late_events, q.out_of_order_events
FROM analytics.ingest_quality_by_day() q;
COMMENT ON VIEW analytics.ingest_quality IS
    'How good what comes in is: one row a day on our clock, UTC, and source. The counts of runs are of those that ended on the day, those of events of what was recorded on it.'
