"""Retention by cohort from exported transactions, computed by another engine.

    read_export.py duckdb|polars|spark FOLDER

Prints cohort, environment, product, period, had_opportunity and retained, one row a line, sorted:
what analytics.retention holds, whatever the length of the periods. Reads the files and schema.json, and nothing of the ledger.
"""
import datetime
import json
import os
import sys

RETENTION = """
WITH paid AS (SELECT * FROM purchases WHERE is_paid),
ranked AS (
    SELECT *, row_number() OVER (
        PARTITION BY lane, environment, original_transaction_id
        ORDER BY start_time, ordinal) AS place
    FROM paid
    WHERE months + days > 0 AND start_time <= as_of
), step AS (
    SELECT m.*, n.n, {until} AS until
    FROM ranked m CROSS JOIN numbers n WHERE m.place = 1
), judged AS (
    SELECT s.lane, s.environment, s.original_transaction_id, s.start_time, s.product_identifier,
        s.n, max(CASE WHEN p.start_time <= s.until AND p.effective_end_time > s.until
            THEN 1 ELSE 0 END) AS is_active
    FROM step s JOIN paid p ON p.lane = s.lane AND p.environment = s.environment
        AND p.original_transaction_id = s.original_transaction_id
    WHERE s.until <= s.as_of
    GROUP BY s.lane, s.environment, s.original_transaction_id, s.start_time,
        s.product_identifier, s.n
)
SELECT {cohort} AS cohort, environment, product_identifier, n, count(*) AS had_opportunity,
    sum(is_active) AS retained
FROM judged GROUP BY 1, 2, 3, 4
"""


def as_of(folder):
    """The newest instant that Apple had signed, without its zone: all times here are UTC."""
    with open(os.path.join(folder, "manifest.json")) as file:
        tables = json.load(file)["tables"]
    milliseconds = next(t["asOf"] for t in tables if t["name"] == "retention")
    return datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=milliseconds)


def print_rows(rows):
    lines = [",".join(str(value) for value in row) for row in rows]
    print("\n".join(sorted(lines, key=lambda line: line.encode())))


def duckdb_rows(folder):
    import duckdb

    os.chdir(folder)
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    with open("duckdb.sql") as file:
        connection.execute(file.read())
    connection.execute(
        """
        CREATE TABLE purchases AS SELECT * REPLACE (start_time::TIMESTAMP AS start_time,
                effective_end_time::TIMESTAMP AS effective_end_time),
            coalesce(try_cast(regexp_extract(length, 'P([0-9]+)M', 1) AS INTEGER), 0)
                + 12 * coalesce(try_cast(regexp_extract(length, 'P([0-9]+)Y', 1) AS INTEGER), 0)
                AS months,
            coalesce(try_cast(regexp_extract(length, 'P([0-9]+)D', 1) AS INTEGER), 0)
                + 7 * coalesce(try_cast(regexp_extract(length, 'P([0-9]+)W', 1) AS INTEGER), 0)
                AS days,
            ?::TIMESTAMP AS as_of
        FROM (SELECT *, coalesce(product_duration, billing_duration) AS length FROM transactions)
        """,
        [str(as_of(folder))],
    )
    connection.execute("CREATE TABLE numbers AS SELECT range::INTEGER AS n FROM range(1, 4000)")
    query = RETENTION.format(
        until="m.start_time + to_months(n.n * m.months) + to_days(n.n * m.days)",
        cohort="strftime(start_time, '%Y-%m-01')",
    )
    return connection.execute(query).fetchall()


def polars_rows(folder):
    import polars

    types = {
        "string": polars.String, "boolean": polars.String, "int32": polars.Int32,
        "int64": polars.Int64, "timestamp": polars.String, "date": polars.Date,
        "string[]": polars.String, "json": polars.String,
    }
    with open(os.path.join(folder, "schema.json")) as file:
        table = next(t for t in json.load(file)["tables"] if t["name"] == "transactions")
    column = polars.col
    purchases = (
        polars.scan_csv(
            os.path.join(folder, table["files"]),
            schema={c["name"]: types[c["type"]] for c in table["columns"]},
        )
        .with_columns(
            *(
                column(name).str.to_datetime("%Y-%m-%d %H:%M:%S%.f%#z").dt.replace_time_zone(None)
                for name in ("start_time", "effective_end_time")
            ),
            length=polars.coalesce("product_duration", "billing_duration"),
        )
        .filter(column("is_paid") == "t")
        .with_columns(
            months=polars.sum_horizontal(
                column("length").str.extract(r"P(\d+)M").cast(polars.Int32).fill_null(0),
                12 * column("length").str.extract(r"P(\d+)Y").cast(polars.Int32).fill_null(0),
            ),
            days=polars.sum_horizontal(
                column("length").str.extract(r"P(\d+)D").cast(polars.Int32).fill_null(0),
                7 * column("length").str.extract(r"P(\d+)W").cast(polars.Int32).fill_null(0),
            ),
        )
    )
    stream = ["lane", "environment", "original_transaction_id"]
    newest = as_of(folder)
    step = (
        purchases.filter(
            (column("months") + column("days") > 0) & (column("start_time") <= newest)
        )
        .sort("start_time", "ordinal")
        .unique(stream, keep="first", maintain_order=True)
        .select(
            *stream, "product_identifier", "months", "days",
            column("start_time").alias("first_start"),
            n=polars.int_ranges(1, 4000),
        )
        .explode("n")
        .with_columns(
            until=column("first_start").dt.offset_by(
                (column("n") * column("months")).cast(polars.String) + "mo"
            )
            + polars.duration(days=column("n") * column("days"))
        )
        .filter(column("until") <= newest)
    )
    cohort = ["cohort", "environment", "product_identifier", "n"]
    return (
        step.join(purchases.select(*stream, "start_time", "effective_end_time"), on=stream)
        .with_columns(
            is_active=(column("start_time") <= column("until"))
            & (column("effective_end_time") > column("until")),
            cohort=column("first_start").dt.strftime("%Y-%m-01"),
        )
        .group_by("lane", "original_transaction_id", *cohort)
        .agg(column("is_active").any())
        .group_by(*cohort)
        .agg(polars.len().alias("had_opportunity"), column("is_active").sum())
        .collect()
        .rows()
    )


def spark_rows(folder):
    from pyspark.sql import SparkSession

    types = {
        "string": "string", "boolean": "string", "int32": "int", "int64": "bigint",
        "timestamp": "timestamp", "date": "date", "string[]": "string", "json": "string",
    }
    with open(os.path.join(folder, "schema.json")) as file:
        table = next(t for t in json.load(file)["tables"] if t["name"] == "transactions")
    spark = (
        SparkSession.builder.master("local[2]").config("spark.sql.session.timeZone", "UTC")
        .config("spark.ui.enabled", "false").getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    columns = table["columns"] + table["partitions"]
    frame = spark.read.csv(
        os.path.join(folder, "transactions"),
        schema=", ".join(f"`{c['name']}` {types[c['type']]}" for c in columns),
        header=True, nullValue="", emptyValue="", escape='"',
        timestampFormat="yyyy-MM-dd HH:mm:ss[.SSSSSS]X",
    )
    frame.createOrReplaceTempView("transactions")
    spark.sql(
        f"""
        SELECT *, t.is_paid_word = 't' AS is_paid, timestamp '{as_of(folder)}' AS as_of,
            coalesce(try_cast(regexp_extract(length, 'P([0-9]+)M', 1) AS INT), 0)
                + 12 * coalesce(try_cast(regexp_extract(length, 'P([0-9]+)Y', 1) AS INT), 0)
                AS months,
            coalesce(try_cast(regexp_extract(length, 'P([0-9]+)D', 1) AS INT), 0)
                + 7 * coalesce(try_cast(regexp_extract(length, 'P([0-9]+)W', 1) AS INT), 0)
                AS days
        FROM (SELECT lane, environment, original_transaction_id, ordinal, product_identifier,
            start_time, effective_end_time, is_paid AS is_paid_word,
            coalesce(product_duration, billing_duration) AS length FROM transactions) t
        """
    ).createOrReplaceTempView("purchases")
    spark.range(1, 4000).withColumnRenamed("id", "n").createOrReplaceTempView("numbers")
    query = RETENTION.format(
        until="m.start_time + make_interval(0, CAST(n.n * m.months AS INT), 0, "
        "CAST(n.n * m.days AS INT))",
        cohort="date_format(start_time, 'yyyy-MM-01')",
    )
    return [tuple(row) for row in spark.sql(query).collect()]


if __name__ == "__main__":
    engines = {"duckdb": duckdb_rows, "polars": polars_rows, "spark": spark_rows}
    print_rows(engines[sys.argv[1]](os.path.abspath(sys.argv[2])))
