-- Whether a purchase t began on one of the requested days.
t.start_time >= $1::date::timestamp AT TIME ZONE 'UTC'
    AND t.start_time < $4
