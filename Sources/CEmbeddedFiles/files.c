// The files that the program carries, so that it is one file where it runs.
#include "CEmbeddedFiles.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name, *text;
} files[] = {
    // The schema of the log.
    {"bootstrap.sql", (const char[]){
#embed "../../schema/bootstrap/bootstrap.sql" suffix(, 0)
    }},
    {"v001-ledger.sql", (const char[]){
#embed "../../schema/migrations/v001-ledger.sql" suffix(, 0)
    }},
    {"v002-checkpoint.sql", (const char[]){
#embed "../../schema/migrations/v002-checkpoint.sql" suffix(, 0)
    }},
    {"v003-erasure.sql", (const char[]){
#embed "../../schema/migrations/v003-erasure.sql" suffix(, 0)
    }},
    {"v004-continuation.sql", (const char[]){
#embed "../../schema/migrations/v004-continuation.sql" suffix(, 0)
    }},
    {"v005-rejection.sql", (const char[]){
#embed "../../schema/migrations/v005-rejection.sql" suffix(, 0)
    }},
    {"v006-rejection-arrival.sql", (const char[]){
#embed "../../schema/migrations/v006-rejection-arrival.sql" suffix(, 0)
    }},
    {"v007-currency-rate.sql", (const char[]){
#embed "../../schema/migrations/v007-currency-rate.sql" suffix(, 0)
    }},
    {"v008-newest-signature.sql", (const char[]){
#embed "../../schema/migrations/v008-newest-signature.sql" suffix(, 0)
    }},
    {"v009-lookup-key.sql", (const char[]){
#embed "../../schema/migrations/v009-lookup-key.sql" suffix(, 0)
    }},
    {"v010-lookup-lane.sql", (const char[]){
#embed "../../schema/migrations/v010-lookup-lane.sql" suffix(, 0)
    }},
    {"v011-repair.sql", (const char[]){
#embed "../../schema/migrations/v011-repair.sql" suffix(, 0)
    }},
    {"v012-rejection-standing.sql", (const char[]){
#embed "../../schema/migrations/v012-rejection-standing.sql" suffix(, 0)
    }},
    {"v013-token-limit.sql", (const char[]){
#embed "../../schema/migrations/v013-token-limit.sql" suffix(, 0)
    }},
    {"v014-audit.sql", (const char[]){
#embed "../../schema/migrations/v014-audit.sql" suffix(, 0)
    }},
    {"v015-evidence-file.sql", (const char[]){
#embed "../../schema/migrations/v015-evidence-file.sql" suffix(, 0)
    }},
    {"v016-apple-order.sql", (const char[]){
#embed "../../schema/migrations/v016-apple-order.sql" suffix(, 0)
    }},
    {"v017-bounded-values.sql", (const char[]){
#embed "../../schema/migrations/v017-bounded-values.sql" suffix(, 0)
    }},
    {"v018-proceeds-rate.sql", (const char[]){
#embed "../../schema/migrations/v018-proceeds-rate.sql" suffix(, 0)
    }},
    {"v019-consumer.sql", (const char[]){
#embed "../../schema/migrations/v019-consumer.sql" suffix(, 0)
    }},
    {"v020-webhook.sql", (const char[]){
#embed "../../schema/migrations/v020-webhook.sql" suffix(, 0)
    }},
    {"v021-delivery.sql", (const char[]){
#embed "../../schema/migrations/v021-delivery.sql" suffix(, 0)
    }},
    {"v022-relay.sql", (const char[]){
#embed "../../schema/migrations/v022-relay.sql" suffix(, 0)
    }},
    {"v023-alert.sql", (const char[]){
#embed "../../schema/migrations/v023-alert.sql" suffix(, 0)
    }},
    {"v024-consumer-stream.sql", (const char[]){
#embed "../../schema/migrations/v024-consumer-stream.sql" suffix(, 0)
    }},
    {"v025-consumption.sql", (const char[]){
#embed "../../schema/migrations/v025-consumption.sql" suffix(, 0)
    }},
    {"check-v001-ledger.sql", (const char[]){
#embed "../../schema/checks/check-v001-ledger.sql" suffix(, 0)
    }},
    {"check-v002-checkpoint.sql", (const char[]){
#embed "../../schema/checks/check-v002-checkpoint.sql" suffix(, 0)
    }},
    {"check-v003-erasure.sql", (const char[]){
#embed "../../schema/checks/check-v003-erasure.sql" suffix(, 0)
    }},
    {"check-v004-continuation.sql", (const char[]){
#embed "../../schema/checks/check-v004-continuation.sql" suffix(, 0)
    }},
    {"check-v005-rejection.sql", (const char[]){
#embed "../../schema/checks/check-v005-rejection.sql" suffix(, 0)
    }},
    {"check-v006-rejection-arrival.sql", (const char[]){
#embed "../../schema/checks/check-v006-rejection-arrival.sql" suffix(, 0)
    }},
    {"check-v007-currency-rate.sql", (const char[]){
#embed "../../schema/checks/check-v007-currency-rate.sql" suffix(, 0)
    }},
    {"check-v008-newest-signature.sql", (const char[]){
#embed "../../schema/checks/check-v008-newest-signature.sql" suffix(, 0)
    }},
    {"check-v009-lookup-key.sql", (const char[]){
#embed "../../schema/checks/check-v009-lookup-key.sql" suffix(, 0)
    }},
    {"check-v010-lookup-lane.sql", (const char[]){
#embed "../../schema/checks/check-v010-lookup-lane.sql" suffix(, 0)
    }},
    {"check-v011-repair.sql", (const char[]){
#embed "../../schema/checks/check-v011-repair.sql" suffix(, 0)
    }},
    {"check-v012-rejection-standing.sql", (const char[]){
#embed "../../schema/checks/check-v012-rejection-standing.sql" suffix(, 0)
    }},
    {"check-v013-token-limit.sql", (const char[]){
#embed "../../schema/checks/check-v013-token-limit.sql" suffix(, 0)
    }},
    {"check-v014-audit.sql", (const char[]){
#embed "../../schema/checks/check-v014-audit.sql" suffix(, 0)
    }},
    {"check-v015-evidence-file.sql", (const char[]){
#embed "../../schema/checks/check-v015-evidence-file.sql" suffix(, 0)
    }},
    {"check-v016-apple-order.sql", (const char[]){
#embed "../../schema/checks/check-v016-apple-order.sql" suffix(, 0)
    }},
    {"check-v017-bounded-values.sql", (const char[]){
#embed "../../schema/checks/check-v017-bounded-values.sql" suffix(, 0)
    }},
    {"check-v018-proceeds-rate.sql", (const char[]){
#embed "../../schema/checks/check-v018-proceeds-rate.sql" suffix(, 0)
    }},
    {"check-v019-consumer.sql", (const char[]){
#embed "../../schema/checks/check-v019-consumer.sql" suffix(, 0)
    }},
    {"check-v020-webhook.sql", (const char[]){
#embed "../../schema/checks/check-v020-webhook.sql" suffix(, 0)
    }},
    {"check-v021-delivery.sql", (const char[]){
#embed "../../schema/checks/check-v021-delivery.sql" suffix(, 0)
    }},
    {"check-v022-relay.sql", (const char[]){
#embed "../../schema/checks/check-v022-relay.sql" suffix(, 0)
    }},
    {"check-v023-alert.sql", (const char[]){
#embed "../../schema/checks/check-v023-alert.sql" suffix(, 0)
    }},
    {"check-v024-consumer-stream.sql", (const char[]){
#embed "../../schema/checks/check-v024-consumer-stream.sql" suffix(, 0)
    }},
    {"check-v025-consumption.sql", (const char[]){
#embed "../../schema/checks/check-v025-consumption.sql" suffix(, 0)
    }},
    {"content-fields.sql", (const char[]){
#embed "../../schema/functions/content-fields.sql" suffix(, 0)
    }},
    {"content-text.sql", (const char[]){
#embed "../../schema/functions/content-text.sql" suffix(, 0)
    }},
    {"erase.sql", (const char[]){
#embed "../../schema/functions/erase.sql" suffix(, 0)
    }},
    {"forget-audits.sql", (const char[]){
#embed "../../schema/functions/forget-audits.sql" suffix(, 0)
    }},
    {"forget-rejections.sql", (const char[]){
#embed "../../schema/functions/forget-rejections.sql" suffix(, 0)
    }},
    {"is-erasing.sql", (const char[]){
#embed "../../schema/functions/is-erasing.sql" suffix(, 0)
    }},
    {"is-other-clock.sql", (const char[]){
#embed "../../schema/functions/is-other-clock.sql" suffix(, 0)
    }},
    {"json-or-text.sql", (const char[]){
#embed "../../schema/functions/json-or-text.sql" suffix(, 0)
    }},
    {"lane-of.sql", (const char[]){
#embed "../../schema/functions/lane-of.sql" suffix(, 0)
    }},
    {"refuse-change.sql", (const char[]){
#embed "../../schema/functions/refuse-change.sql" suffix(, 0)
    }},
    {"refuse-orphan.sql", (const char[]){
#embed "../../schema/functions/refuse-orphan.sql" suffix(, 0)
    }},
    {"refuse-other-clock.sql", (const char[]){
#embed "../../schema/functions/refuse-other-clock.sql" suffix(, 0)
    }},
    {"refuse-unaccounted.sql", (const char[]){
#embed "../../schema/functions/refuse-unaccounted.sql" suffix(, 0)
    }},
    {"refuse-unchained.sql", (const char[]){
#embed "../../schema/functions/refuse-unchained.sql" suffix(, 0)
    }},
    {"refuse-unless-blanked.sql", (const char[]){
#embed "../../schema/functions/refuse-unless-blanked.sql" suffix(, 0)
    }},
    {"refuse-unproven.sql", (const char[]){
#embed "../../schema/functions/refuse-unproven.sql" suffix(, 0)
    }},
    {"repetitions.sql", (const char[]){
#embed "../../schema/functions/repetitions.sql" suffix(, 0)
    }},
    {"text-without-nul.sql", (const char[]){
#embed "../../schema/functions/text-without-nul.sql" suffix(, 0)
    }},
    {"definitions.sql", (const char[]){
#embed "../../schema/guard/definitions.sql" suffix(, 0)
    }},
    {"differences.sql", (const char[]){
#embed "../../schema/guard/differences.sql" suffix(, 0)
    }},
    {"snapshot.sql", (const char[]){
#embed "../../schema/snapshot.sql" suffix(, 0)
    }},
    // The tables and views of the folds.
    {"active-periods-indexes.sql", (const char[]){
#embed "../../Projections/Tables/SQL/active-periods-indexes.sql" suffix(, 0)
    }},
    {"active-periods.sql", (const char[]){
#embed "../../Projections/Tables/SQL/active-periods.sql" suffix(, 0)
    }},
    {"columns.txt", (const char[]){
#embed "../../Projections/Tables/SQL/columns.txt" suffix(, 0)
    }},
    {"customers-indexes.sql", (const char[]){
#embed "../../Projections/Tables/SQL/customers-indexes.sql" suffix(, 0)
    }},
    {"customers.sql", (const char[]){
#embed "../../Projections/Tables/SQL/customers.sql" suffix(, 0)
    }},
    {"movements-history-indexes.sql", (const char[]){
#embed "../../Projections/Tables/SQL/movements-history-indexes.sql" suffix(, 0)
    }},
    {"movements-indexes.sql", (const char[]){
#embed "../../Projections/Tables/SQL/movements-indexes.sql" suffix(, 0)
    }},
    {"movements.sql", (const char[]){
#embed "../../Projections/Tables/SQL/movements.sql" suffix(, 0)
    }},
    {"plan-changes-indexes.sql", (const char[]){
#embed "../../Projections/Tables/SQL/plan-changes-indexes.sql" suffix(, 0)
    }},
    {"plan-changes.sql", (const char[]){
#embed "../../Projections/Tables/SQL/plan-changes.sql" suffix(, 0)
    }},
    {"refunds-indexes.sql", (const char[]){
#embed "../../Projections/Tables/SQL/refunds-indexes.sql" suffix(, 0)
    }},
    {"refunds.sql", (const char[]){
#embed "../../Projections/Tables/SQL/refunds.sql" suffix(, 0)
    }},
    {"renewal-states-indexes.sql", (const char[]){
#embed "../../Projections/Tables/SQL/renewal-states-indexes.sql" suffix(, 0)
    }},
    {"renewal-states.sql", (const char[]){
#embed "../../Projections/Tables/SQL/renewal-states.sql" suffix(, 0)
    }},
    {"transactions-history-indexes.sql", (const char[]){
#embed "../../Projections/Tables/SQL/transactions-history-indexes.sql" suffix(, 0)
    }},
    {"transactions-indexes.sql", (const char[]){
#embed "../../Projections/Tables/SQL/transactions-indexes.sql" suffix(, 0)
    }},
    {"transactions.sql", (const char[]){
#embed "../../Projections/Tables/SQL/transactions.sql" suffix(, 0)
    }},
    {"analytics-customer-value.sql", (const char[]){
#embed "../../Projections/Analytics/SQL/analytics-customer-value.sql" suffix(, 0)
    }},
    {"analytics-customers.sql", (const char[]){
#embed "../../Projections/Analytics/SQL/analytics-customers.sql" suffix(, 0)
    }},
    {"analytics-daily-snapshot-between.sql", (const char[]){
#embed "../../Projections/Analytics/SQL/analytics-daily-snapshot-between.sql" suffix(, 0)
    }},
    {"analytics-daily-snapshot.sql", (const char[]){
#embed "../../Projections/Analytics/SQL/analytics-daily-snapshot.sql" suffix(, 0)
    }},
    {"analytics-ingest-quality-by-day.sql", (const char[]){
#embed "../../Projections/Analytics/SQL/analytics-ingest-quality-by-day.sql" suffix(, 0)
    }},
    {"analytics-ingest-quality.sql", (const char[]){
#embed "../../Projections/Analytics/SQL/analytics-ingest-quality.sql" suffix(, 0)
    }},
    {"analytics-last-signed-at.sql", (const char[]){
#embed "../../Projections/Analytics/SQL/analytics-last-signed-at.sql" suffix(, 0)
    }},
    {"analytics-metric-definition.sql", (const char[]){
#embed "../../Projections/Analytics/SQL/analytics-metric-definition.sql" suffix(, 0)
    }},
    {"analytics-movements.sql", (const char[]){
#embed "../../Projections/Analytics/SQL/analytics-movements.sql" suffix(, 0)
    }},
    {"analytics-periods.sql", (const char[]){
#embed "../../Projections/Analytics/SQL/analytics-periods.sql" suffix(, 0)
    }},
    {"analytics-recognised-revenue.sql", (const char[]){
#embed "../../Projections/Analytics/SQL/analytics-recognised-revenue.sql" suffix(, 0)
    }},
    {"analytics-recorded-at.sql", (const char[]){
#embed "../../Projections/Analytics/SQL/analytics-recorded-at.sql" suffix(, 0)
    }},
    {"analytics-repeated-purchases.sql", (const char[]){
#embed "../../Projections/Analytics/SQL/analytics-repeated-purchases.sql" suffix(, 0)
    }},
    {"analytics-retention-at.sql", (const char[]){
#embed "../../Projections/Analytics/SQL/analytics-retention-at.sql" suffix(, 0)
    }},
    {"analytics-retention.sql", (const char[]){
#embed "../../Projections/Analytics/SQL/analytics-retention.sql" suffix(, 0)
    }},
    {"analytics-subscriptions.sql", (const char[]){
#embed "../../Projections/Analytics/SQL/analytics-subscriptions.sql" suffix(, 0)
    }},
    {"analytics-transactions.sql", (const char[]){
#embed "../../Projections/Analytics/SQL/analytics-transactions.sql" suffix(, 0)
    }},
    {"part-case-of-movement.sql", (const char[]){
#embed "../../Projections/Analytics/SQL/part-case-of-movement.sql" suffix(, 0)
    }},
    {"part-plan-changes.sql", (const char[]){
#embed "../../Projections/Analytics/SQL/part-plan-changes.sql" suffix(, 0)
    }},
    {"part-recognised-revenue.sql", (const char[]){
#embed "../../Projections/Analytics/SQL/part-recognised-revenue.sql" suffix(, 0)
    }},
    // What keeps the tables.
    {"analytics-comparison.sql", (const char[]){
#embed "../Projector/SQL/analytics-comparison.sql" suffix(, 0)
    }},
    {"analytics-grant-again.sql", (const char[]){
#embed "../Projector/SQL/analytics-grant-again.sql" suffix(, 0)
    }},
    {"analytics-make-way.sql", (const char[]){
#embed "../Projector/SQL/analytics-make-way.sql" suffix(, 0)
    }},
    {"analytics-state.sql", (const char[]){
#embed "../Projector/SQL/analytics-state.sql" suffix(, 0)
    }},
    {"lease.sql", (const char[]){
#embed "../Projector/SQL/lease.sql" suffix(, 0)
    }},
    {"left-over-schemas.sql", (const char[]){
#embed "../Projector/SQL/left-over-schemas.sql" suffix(, 0)
    }},
    {"left-over-tables.sql", (const char[]){
#embed "../Projector/SQL/left-over-tables.sql" suffix(, 0)
    }},
    {"live-view-shown.sql", (const char[]){
#embed "../Projector/SQL/live-view-shown.sql" suffix(, 0)
    }},
    {"live-view.sql", (const char[]){
#embed "../Projector/SQL/live-view.sql" suffix(, 0)
    }},
    {"newest-signature-differing.sql", (const char[]){
#embed "../Projector/SQL/newest-signature-differing.sql" suffix(, 0)
    }},
    {"newest-signature-kept.sql", (const char[]){
#embed "../Projector/SQL/newest-signature-kept.sql" suffix(, 0)
    }},
    {"newest-signature.sql", (const char[]){
#embed "../Projector/SQL/newest-signature.sql" suffix(, 0)
    }},
    {"part-insertion.sql", (const char[]){
#embed "../Projector/SQL/part-insertion.sql" suffix(, 0)
    }},
    {"part-update.sql", (const char[]){
#embed "../Projector/SQL/part-update.sql" suffix(, 0)
    }},
    {"projection-schema.sql", (const char[]){
#embed "../Projector/SQL/projection-schema.sql" suffix(, 0)
    }},
    {"refusals-deletion.sql", (const char[]){
#embed "../Projector/SQL/refusals-deletion.sql" suffix(, 0)
    }},
    {"refusals-insertion.sql", (const char[]){
#embed "../Projector/SQL/refusals-insertion.sql" suffix(, 0)
    }},
    {"refusals.sql", (const char[]){
#embed "../Projector/SQL/refusals.sql" suffix(, 0)
    }},
    {"schema-relations.sql", (const char[]){
#embed "../Projector/SQL/schema-relations.sql" suffix(, 0)
    }},
    {"table-columns.sql", (const char[]){
#embed "../Projector/SQL/table-columns.sql" suffix(, 0)
    }},
    // The reports.
    {"describe-tables.sql", (const char[]){
#embed "../Subledger/Reports/SQL/describe-tables.sql" suffix(, 0)
    }},
    {"find-columns.sql", (const char[]){
#embed "../Subledger/Reports/SQL/find-columns.sql" suffix(, 0)
    }},
    {"find-continued.sql", (const char[]){
#embed "../Subledger/Reports/SQL/find-continued.sql" suffix(, 0)
    }},
    {"find-environments.sql", (const char[]){
#embed "../Subledger/Reports/SQL/find-environments.sql" suffix(, 0)
    }},
    {"find-first-purchase.sql", (const char[]){
#embed "../Subledger/Reports/SQL/find-first-purchase.sql" suffix(, 0)
    }},
    {"find-live-tables.sql", (const char[]){
#embed "../Subledger/Reports/SQL/find-live-tables.sql" suffix(, 0)
    }},
    {"find-newest-rate.sql", (const char[]){
#embed "../Subledger/Reports/SQL/find-newest-rate.sql" suffix(, 0)
    }},
    {"find-repeated.sql", (const char[]){
#embed "../Subledger/Reports/SQL/find-repeated.sql" suffix(, 0)
    }},
    {"part-cohorts.sql", (const char[]){
#embed "../Subledger/Reports/SQL/part-cohorts.sql" suffix(, 0)
    }},
    {"part-continued.sql", (const char[]){
#embed "../Subledger/Reports/SQL/part-continued.sql" suffix(, 0)
    }},
    {"part-converted-movements.sql", (const char[]){
#embed "../Subledger/Reports/SQL/part-converted-movements.sql" suffix(, 0)
    }},
    {"part-converted-plan-changes.sql", (const char[]){
#embed "../Subledger/Reports/SQL/part-converted-plan-changes.sql" suffix(, 0)
    }},
    {"part-converted-transactions.sql", (const char[]){
#embed "../Subledger/Reports/SQL/part-converted-transactions.sql" suffix(, 0)
    }},
    {"part-is-asked-day.sql", (const char[]){
#embed "../Subledger/Reports/SQL/part-is-asked-day.sql" suffix(, 0)
    }},
    {"part-month-ends.sql", (const char[]){
#embed "../Subledger/Reports/SQL/part-month-ends.sql" suffix(, 0)
    }},
    {"part-paid-service.sql", (const char[]){
#embed "../Subledger/Reports/SQL/part-paid-service.sql" suffix(, 0)
    }},
    {"part-payments.sql", (const char[]){
#embed "../Subledger/Reports/SQL/part-payments.sql" suffix(, 0)
    }},
    {"part-proceeds-rate.sql", (const char[]){
#embed "../Subledger/Reports/SQL/part-proceeds-rate.sql" suffix(, 0)
    }},
    {"part-proceeds.sql", (const char[]){
#embed "../Subledger/Reports/SQL/part-proceeds.sql" suffix(, 0)
    }},
    {"part-purchase-of-movement.sql", (const char[]){
#embed "../Subledger/Reports/SQL/part-purchase-of-movement.sql" suffix(, 0)
    }},
    {"part-purchase.sql", (const char[]){
#embed "../Subledger/Reports/SQL/part-purchase.sql" suffix(, 0)
    }},
    {"part-purchases-until.sql", (const char[]){
#embed "../Subledger/Reports/SQL/part-purchases-until.sql" suffix(, 0)
    }},
    {"part-rates.sql", (const char[]){
#embed "../Subledger/Reports/SQL/part-rates.sql" suffix(, 0)
    }},
    {"part-repeated.sql", (const char[]){
#embed "../Subledger/Reports/SQL/part-repeated.sql" suffix(, 0)
    }},
    {"part-standing-columns.sql", (const char[]){
#embed "../Subledger/Reports/SQL/part-standing-columns.sql" suffix(, 0)
    }},
    {"part-standing.sql", (const char[]){
#embed "../Subledger/Reports/SQL/part-standing.sql" suffix(, 0)
    }},
    {"report-active.sql", (const char[]){
#embed "../Subledger/Reports/SQL/report-active.sql" suffix(, 0)
    }},
    {"report-cancelled-in-period.sql", (const char[]){
#embed "../Subledger/Reports/SQL/report-cancelled-in-period.sql" suffix(, 0)
    }},
    {"report-churn.sql", (const char[]){
#embed "../Subledger/Reports/SQL/report-churn.sql" suffix(, 0)
    }},
    {"report-cohorts.sql", (const char[]){
#embed "../Subledger/Reports/SQL/report-cohorts.sql" suffix(, 0)
    }},
    {"report-deferred-revenue.sql", (const char[]){
#embed "../Subledger/Reports/SQL/report-deferred-revenue.sql" suffix(, 0)
    }},
    {"report-initial-conversion.sql", (const char[]){
#embed "../Subledger/Reports/SQL/report-initial-conversion.sql" suffix(, 0)
    }},
    {"report-ltv.sql", (const char[]){
#embed "../Subledger/Reports/SQL/report-ltv.sql" suffix(, 0)
    }},
    {"report-mrr-movement.sql", (const char[]){
#embed "../Subledger/Reports/SQL/report-mrr-movement.sql" suffix(, 0)
    }},
    {"report-mrr.sql", (const char[]){
#embed "../Subledger/Reports/SQL/report-mrr.sql" suffix(, 0)
    }},
    {"report-offers.sql", (const char[]){
#embed "../Subledger/Reports/SQL/report-offers.sql" suffix(, 0)
    }},
    {"report-payments.sql", (const char[]){
#embed "../Subledger/Reports/SQL/report-payments.sql" suffix(, 0)
    }},
    {"report-price-consents.sql", (const char[]){
#embed "../Subledger/Reports/SQL/report-price-consents.sql" suffix(, 0)
    }},
    {"report-recovery.sql", (const char[]){
#embed "../Subledger/Reports/SQL/report-recovery.sql" suffix(, 0)
    }},
    {"report-refund-rate.sql", (const char[]){
#embed "../Subledger/Reports/SQL/report-refund-rate.sql" suffix(, 0)
    }},
    {"report-refunds.sql", (const char[]){
#embed "../Subledger/Reports/SQL/report-refunds.sql" suffix(, 0)
    }},
    {"report-renewals.sql", (const char[]){
#embed "../Subledger/Reports/SQL/report-renewals.sql" suffix(, 0)
    }},
    {"report-retention.sql", (const char[]){
#embed "../Subledger/Reports/SQL/report-retention.sql" suffix(, 0)
    }},
    {"report-revenue.sql", (const char[]){
#embed "../Subledger/Reports/SQL/report-revenue.sql" suffix(, 0)
    }},
    {"report-seats.sql", (const char[]){
#embed "../Subledger/Reports/SQL/report-seats.sql" suffix(, 0)
    }},
    {"report-switches.sql", (const char[]){
#embed "../Subledger/Reports/SQL/report-switches.sql" suffix(, 0)
    }},
    {"report-trial-conversion.sql", (const char[]){
#embed "../Subledger/Reports/SQL/report-trial-conversion.sql" suffix(, 0)
    }},
    {"changes-catalog.sql", (const char[]){
#embed "../Subledger/Reports/Changes/SQL/changes-catalog.sql" suffix(, 0)
    }},
    {"changes-customers.sql", (const char[]){
#embed "../Subledger/Reports/Changes/SQL/changes-customers.sql" suffix(, 0)
    }},
    {"changes-facts.sql", (const char[]){
#embed "../Subledger/Reports/Changes/SQL/changes-facts.sql" suffix(, 0)
    }},
    {"changes-insertion.sql", (const char[]){
#embed "../Subledger/Reports/Changes/SQL/changes-insertion.sql" suffix(, 0)
    }},
    {"changes-removal.sql", (const char[]){
#embed "../Subledger/Reports/Changes/SQL/changes-removal.sql" suffix(, 0)
    }},
    {"changes-subscriptions.sql", (const char[]){
#embed "../Subledger/Reports/Changes/SQL/changes-subscriptions.sql" suffix(, 0)
    }},
    // The service and its console.
    {"console.css", (const char[]){
#embed "../SubledgerHTTP/Console/console.css" suffix(, 0)
    }},
    {"console.js", (const char[]){
#embed "../SubledgerHTTP/Console/console.js" suffix(, 0)
    }},
    {"openapi.json", (const char[]){
#embed "../SubledgerHTTP/openapi.json" suffix(, 0)
    }},
    // Examples that the command line prints.
    {"Caddyfile", (const char[]){
#embed "../SubledgerCommand/Serve/Examples/Caddyfile" suffix(, 0)
    }},
    {"alerts.yml", (const char[]){
#embed "../SubledgerCommand/Serve/Examples/alerts.yml" suffix(, 0)
    }},
    {"dashboard.json", (const char[]){
#embed "../SubledgerCommand/Serve/Examples/dashboard.json" suffix(, 0)
    }},
    {"nginx.conf", (const char[]){
#embed "../SubledgerCommand/Serve/Examples/nginx.conf" suffix(, 0)
    }},
    {"subledger.service", (const char[]){
#embed "../SubledgerCommand/Serve/Examples/subledger.service" suffix(, 0)
    }},
};

const char *embedded_file(const char *name) {
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (strcmp(files[i].name, name) == 0) return files[i].text;
    }
    return NULL;
}
