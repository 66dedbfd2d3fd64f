-- A table k in which each course has the lane and the id of its first subscription, with the
-- purchases of later ones after those of earlier ones.
(SELECT k.* FROM {{table}} k WHERE NOT EXISTS (
    SELECT FROM course c WHERE c.lane = k.lane
        AND c.original_transaction_id = k.original_transaction_id)
UNION ALL
SELECT (jsonb_populate_record(k, jsonb_build_object('lane', c.first_lane,
    'original_transaction_id', c.first_id,
    'ordinal', k.ordinal + c.place * {{purchases_max}}{{renewal}}))).*
FROM course c
JOIN {{table}} k ON k.lane = c.lane
    AND k.original_transaction_id = c.original_transaction_id)
