-- Whether a purchase t began on one of the requested days.
t.start_time >= $1::date::timestamp AT TIME ZONE 'UTC'
    AND t.start_time < ($2::date + 1)::timestamp AT TIME ZONE 'UTC'
