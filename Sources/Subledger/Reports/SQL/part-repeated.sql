-- A table k without the purchases that were counted under another original transaction id.
(SELECT k.* FROM {{table}} k WHERE NOT EXISTS (
    SELECT FROM repeated_purchase r WHERE r.lane = k.lane
        AND r.original_transaction_id = k.original_transaction_id
        AND r.purchase_date_ms = k.purchase_date_ms
        AND r.product_identifier = k.product_identifier))
