-- Takes or renews the lease of the lane $1 for the folds $4; no row if another process holds it.
INSERT INTO operation.lease (lane, folds, holder, expires_at)
VALUES ($1, $4, $2, clock_timestamp() + $3 * interval '1 millisecond')
ON CONFLICT ON CONSTRAINT lease_pkey DO UPDATE
    SET holder = excluded.holder, expires_at = excluded.expires_at
    WHERE lease.holder = excluded.holder OR lease.expires_at <= clock_timestamp()
        OR lease.expires_at > clock_timestamp() + $5 * interval '1 millisecond'
RETURNING lane
