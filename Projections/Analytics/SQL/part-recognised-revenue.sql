-- What was paid and earned of each purchase, at the beginning (sign -1) and the end of each month
-- that it has anything in. Of each purchase, every amount is the one that had come about before an
-- instant: a month's numbers are the difference between its end and its beginning, so what is
-- deferred at its end is what is deferred at the beginning of the next. A price is earned evenly over
-- its period. Of a period that a refund or an upgrade ends, what is not given back is earned at once.
--
-- The view of recognised revenue and report deferred-revenue are made of this part. $1 is the first
-- day, $2 the last one, $3 the environment, $4 the first instant that does not count; months are the
-- first instants of the months, until after the last day. Reports fill in the rest.
WITH given AS MATERIALIZED (
    SELECT s.lane, s.environment, s.original_transaction_id, s.purchase_date_ms,
        s.product_identifier,
        array_agg(s.occurred_at ORDER BY s.occurred_at, s.ordinal) AS times,
        array_agg(s.amount ORDER BY s.occurred_at, s.ordinal) AS amounts,
        array_agg(s.is_end ORDER BY s.occurred_at, s.ordinal) AS ends
    FROM (
        SELECT m.lane, m.environment, m.original_transaction_id, m.purchase_date_ms,
            m.product_identifier, m.occurred_at, m.ordinal,
            -- A refund of some seats does not end the period of the others.
            m.movement = 'exit_refund' AND f.refund_kind IS DISTINCT FROM 'seats' AS is_end,
            sum(-coalesce(m.amount_milliunits, 0)) OVER (
                PARTITION BY m.lane, m.environment, m.original_transaction_id,
                    m.purchase_date_ms, m.product_identifier
                ORDER BY m.occurred_at, m.ordinal) AS amount
        FROM analytics.movements m
        {{case_of_movement}}
        WHERE m.environment = $3 AND NOT m.is_shared AND m.occurred_at < $4
            AND m.movement IN ('exit_refund', 'refund_reversed')
    ) s
    GROUP BY s.lane, s.environment, s.original_transaction_id, s.purchase_date_ms,
        s.product_identifier
), replaced AS MATERIALIZED (
    SELECT c.lane, c.environment, c.original_transaction_id, c.previous_ordinal AS ordinal,
        max(c.effective_at) AS replaced_at, sum(c.estimate) AS estimate
    FROM {{upgrade_refunds}} c
    WHERE c.environment = $3 AND c.effective_at < $4
    GROUP BY c.lane, c.environment, c.original_transaction_id, c.previous_ordinal
), purchase AS MATERIALIZED (
    SELECT t.lane, t.environment, t.original_transaction_id, t.ordinal, t.product_identifier,
        t.country, t.offer_type, t.currency, t.start_time,
        t.purchase_price_milliunits AS price, {{rate}} AS rate,
        -- What has no period is earned when it is bought.
        CASE WHEN t.is_auto_renewable THEN greatest(t.end_time, t.start_time)
            ELSE t.start_time END AS end_time,
        CASE WHEN t.is_auto_renewable
            THEN least(t.effective_end_time, r.replaced_at) END AS stopped_at,
        g.times, g.amounts, g.ends, r.replaced_at, r.estimate{{of_purchase}}
    FROM {{transactions}} t
    LEFT JOIN given g ON g.lane = t.lane AND g.environment = t.environment
        AND g.original_transaction_id = t.original_transaction_id
        AND g.purchase_date_ms = t.purchase_date_ms
        AND g.product_identifier = t.product_identifier
    LEFT JOIN replaced r ON r.lane = t.lane AND r.environment = t.environment
        AND r.original_transaction_id = t.original_transaction_id AND r.ordinal = t.ordinal
    WHERE t.environment = $3 AND t.start_time < $4 AND NOT t.is_shared
        AND t.purchase_price_milliunits <> 0
)
SELECT v.*, CASE WHEN v.sign < 0 THEN v.paid - v.returned - v.estimated - v.earned END
        AS deferred,
    v.sign * v.paid AS gross, v.sign * v.returned AS given_back,
    v.sign * v.estimated AS estimate, v.sign * v.earned AS recognised
FROM (
    SELECT s.*, CASE
            WHEN s.is_stopped OR s.instant >= s.end_time
                THEN s.paid - s.returned - s.estimated
            WHEN s.paid = 0 THEN 0
            ELSE div((s.paid - s.returned)
                    * (1000 * extract(epoch FROM s.instant - s.start_time))::bigint::numeric,
                (1000 * extract(epoch FROM s.end_time - s.start_time))::bigint::numeric)
        END AS earned
    FROM (
        SELECT t.lane, t.environment, t.original_transaction_id, t.ordinal,
            t.product_identifier, t.country, t.offer_type, t.currency, t.start_time,
            t.end_time, b.since::date AS day, date_trunc('month', b.since) AS month, i.sign,
            i.instant, n.paid, g.returned,
            CASE WHEN n.paid <> 0 AND t.replaced_at < i.instant
                THEN round(t.estimate * t.rate) ELSE 0 END AS estimated,
            n.paid <> 0 AND (g.is_refunded OR coalesce(t.stopped_at < i.instant, false))
                AS is_stopped{{of_cohort}}
        FROM purchase t
        CROSS JOIN LATERAL (
            SELECT greatest(({{months}})[n], $1::date::timestamp) AS since,
                ({{months}})[n + 1] AS next
            FROM generate_series(width_bucket(greatest(
                    t.start_time AT TIME ZONE 'UTC', $1::date::timestamp), {{months}}),
                width_bucket(least(
                    greatest(t.end_time, t.replaced_at, t.times[cardinality(t.times)])
                        AT TIME ZONE 'UTC', $2::date::timestamp), {{months}})) n
            WHERE greatest(({{months}})[n], $1::date::timestamp) < $4 AT TIME ZONE 'UTC'
        ) b
        CROSS JOIN LATERAL (VALUES (-1, b.since AT TIME ZONE 'UTC'),
            (1, least(b.next AT TIME ZONE 'UTC', $4))) i (sign, instant)
        CROSS JOIN LATERAL (
            SELECT CASE WHEN t.start_time < i.instant THEN t.price ELSE 0 END AS paid,
                CASE WHEN t.times IS NULL OR t.start_time >= i.instant THEN 0 ELSE (
                    SELECT count(*) FROM unnest(t.times) q (given_at)
                    WHERE q.given_at < i.instant) END::integer AS refunds
        ) n
        CROSS JOIN LATERAL (
            SELECT CASE WHEN n.refunds > 0
                    THEN round(t.amounts[n.refunds] * t.rate) ELSE 0 END AS returned,
                n.refunds > 0 AND t.ends[n.refunds] AS is_refunded
        ) g
    ) s
) v
