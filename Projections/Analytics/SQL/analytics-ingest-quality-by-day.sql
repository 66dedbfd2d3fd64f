-- Days are of the ledger's clock: when a run ended, or an event was recorded. The function runs with
-- the rights of its owner, so readers of the views need no rights on the log.
CREATE OR REPLACE FUNCTION analytics.ingest_quality_by_day()
RETURNS TABLE (
    day date, source text, runs bigint, payloads bigint, appended bigint, duplicates bigint,
    restored_transaction_ids bigint, rejected bigint, rejected_by_reason jsonb, events bigint,
    late_events bigint, out_of_order_events bigint
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
WITH run AS (
    SELECT (i.finished_at AT TIME ZONE 'UTC')::date AS day, i.source, count(*) AS runs,
        sum(i.payloads)::bigint AS payloads, sum(i.appended)::bigint AS appended,
        sum(i.duplicates)::bigint AS duplicates, sum(i.restored)::bigint AS restored,
        sum(i.rejected)::bigint AS rejected
    FROM ledger.ingestion i GROUP BY 1, 2
), reason AS (
    SELECT c.day, c.source, jsonb_object_agg(c.reason, c.number) AS reasons
    FROM (
        SELECT (i.finished_at AT TIME ZONE 'UTC')::date AS day, i.source, r.key AS reason,
            sum(r.value::bigint)::bigint AS number
        FROM ledger.ingestion i CROSS JOIN LATERAL jsonb_each_text(i.rejected_by_reason) r
        GROUP BY 1, 2, 3
    ) c GROUP BY 1, 2
), recorded AS (
    -- A manual repair or a polled history is always late, so only live events count as late.
    SELECT (e.recorded_at AT TIME ZONE 'UTC')::date AS day, v.source, count(*) AS events,
        count(*) FILTER (WHERE NOT e.is_imported AND e.recorded_at
            > 'epoch'::timestamptz + (e.as_of_ms + 3600000) * interval '1 millisecond') AS late,
        count(*) FILTER (WHERE e.as_of_ms < e.newest_before) AS out_of_order
    FROM (
        SELECT x.lane, x.recorded_at, x.evidence_no, x.is_imported, x.as_of_ms,
            max(x.as_of_ms) OVER (
                PARTITION BY x.lane, x.environment, x.original_transaction_id
                ORDER BY x.lane_offset ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS newest_before
        FROM ledger.event x WHERE x.kind IN ('transaction', 'renewal', 'notification')
    ) e
    JOIN ledger.evidence v ON v.lane = e.lane AND v.evidence_no = e.evidence_no
    GROUP BY 1, 2
)
SELECT coalesce(r.day, e.day), coalesce(r.source, e.source), coalesce(r.runs, 0),
    coalesce(r.payloads, 0), coalesce(r.appended, 0), coalesce(r.duplicates, 0),
    coalesce(r.restored, 0), coalesce(r.rejected, 0), coalesce(n.reasons, '{}'),
    coalesce(e.events, 0), coalesce(e.late, 0), coalesce(e.out_of_order, 0)
FROM run r
LEFT JOIN reason n ON n.day = r.day AND n.source = r.source
FULL JOIN recorded e ON e.day = r.day AND e.source = r.source
$$;
COMMENT ON FUNCTION analytics.ingest_quality_by_day() IS 'The rows of analytics.ingest_quality.'
