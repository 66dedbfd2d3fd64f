-- When the first purchase of an environment began.
SELECT (extract(epoch FROM t.start_time) * 1000)::bigint
FROM projection.transactions t WHERE t.environment = $1
ORDER BY t.start_time LIMIT 1
