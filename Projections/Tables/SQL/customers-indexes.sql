-- Built after loading, which is faster than keeping them up to date row by row. The primary key
-- begins with the id, by which other tables are joined.

-- "Which subscriptions does this member have?"
CREATE INDEX customers_by_customer
    ON {{schema}}.customers (customer) WHERE customer IS NOT NULL;
CREATE INDEX customers_by_app_account_token
    ON {{schema}}.customers (app_account_token) WHERE app_account_token IS NOT NULL;
