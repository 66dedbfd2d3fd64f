internal import Events

extension Report {
    /// All of them, in the order of the list.
    package static let all: [Report] = [
        Report(
            "retention",
            version: 3,
            """
            Of the subscriptions whose first payment falls in the months of the report, how many \
            have paid access n periods later. A period is as long as that of the product first \
            paid for (period_length). Only subscriptions that have reached that instant count \
            (had_opportunity, retained); those in retained_pending have not reached it yet.
            """,
            by: [.month, .product],
            usual: [.product],
            keys: ["period_length", "period_number"],
            columns: ["had_opportunity", "retained", "retained_percent", "retained_pending"],
            drawn: ("retained_percent", "Share of subscriptions with paid access"),
            sql: embeddedFile("report-retention.sql")
        ),
        Report(
            "cancelled-in-period",
            version: 3,
            """
            Of the subscriptions whose first payment falls in the months of the report, how many \
            entered the nth period after it (entered_period), how many of these switched \
            auto-renewal off in that period, and, if the period is over (completed_period), how \
            many ended with it. A period is as long as that of the product first paid for \
            (period_length).
            """,
            by: [.month, .product],
            usual: [.product],
            keys: ["period_length", "period_number"],
            columns: [
                "entered_period", "auto_renew_off_in_period", "auto_renew_off_percent",
                "completed_period", "ended_in_period", "ended_percent",
            ],
            drawn: (
                "auto_renew_off_percent", "Share of subscriptions that switched auto-renewal off"
            ),
            sql: embeddedFile("report-cancelled-in-period.sql")
        ),
        Report(
            "payments",
            version: 3,
            """
            Payments per customer and currency in the days of the report: how many, how many of \
            them were refunded by its last day, and the amounts paid, given back and kept. A \
            purchase whose price Apple did not state is a payment; free purchases and those of \
            family members are not.
            """,
            keys: ["customer_id", "currency"],
            columns: [
                "payments_count", "refunds_count", "gross_milliunits", "given_back_milliunits",
                "net_milliunits", "first_paid_time", "last_paid_time",
            ],
            greatestFirst: "payments_count",
            drawn: ("payments_count", "Payments"),
            sql: embeddedFile("report-payments.sql")
        ),
        Report(
            "renewals",
            version: 3,
            """
            Payments for subscriptions in the days of the report: original ones, made by the \
            customer, and automatic ones. Apple's transactionReason decides; if it is missing \
            (inferred), the first purchase, one after a lapse and a change of plan are original.
            """,
            by: Dimension.allCases,
            usual: [.month],
            columns: [
                "payments_count", "original_payments", "automatic_payments", "automatic_percent",
                "inferred",
            ],
            drawn: ("automatic_percent", "Share of payments that are automatic"),
            sql: embeddedFile("report-renewals.sql")
        ),
        Report(
            "switches",
            version: 3,
            """
            Changes of plan that took effect in the days of the report, by the product before and \
            after: upgrade, downgrade or crossgrade, or plan_change if no catalog ranks the \
            products. Those of family members do not count.
            """,
            by: [.month, .week, .fiscalMonth, .country, .offer],
            keys: ["previous_product_identifier", "product_identifier", "plan_change"],
            columns: ["plan_changes_count", "subscriptions_count"],
            greatestFirst: "plan_changes_count",
            drawn: ("plan_changes_count", "Changes of plan"),
            sql: embeddedFile("report-switches.sql")
        ),
        Report(
            "active",
            version: 3,
            """
            Subscriptions at the end of each month and of the last day of the report, UTC; if that \
            day is not over, at Apple's newest signature: with a running paid purchase \
            (active_paid), with a running free trial by any kind of offer (active_trial), of both \
            those in billing grace (in_grace), of active_paid those with auto-renewal off \
            (set_to_expire), and those in billing retry without access.
            """,
            by: [.product, .country, .offer],
            keys: ["day"],
            columns: ["active_paid", "active_trial", "in_grace", "in_retry", "set_to_expire"],
            drawn: ("active_paid", "Subscriptions with a running paid purchase"),
            sql: embeddedFile("report-active.sql")
        ),
        Report(
            "churn",
            version: 4,
            """
            Of the subscriptions with a running paid purchase before the first day of the month, \
            or of the report (active_at_start), those that have none at its end (lost_from_start, \
            and as a share churn_percent), by the product that they had at the start. lost counts \
            every time that a subscription has a running paid purchase at the end of a day and \
            none at the end of the next, for whatever reason and also if it began in the same \
            month; resubscribed counts every return. churned_voluntary, churned_involuntary and \
            churned_unknown count the ends of subscriptions, by Apple's reason and on Apple's \
            date. They differ from lost: a failed charge is lost at the end of its period and \
            churns up to 60 days later, a refund is lost and does not churn, and a trial that ends \
            churns and was never paid.
            """,
            usual: [.month],
            columns: [
                "active_at_start", "lost", "resubscribed", "lost_from_start", "churn_percent",
                "churned_voluntary", "churned_involuntary", "churned_unknown",
            ],
            drawn: ("churn_percent", "Share of paid subscriptions lost"),
            sql: embeddedFile("report-churn.sql")
        ),
        Report(
            "trial-conversion",
            version: 3,
            """
            Free trials, by any kind of offer, that began in the days of the report, and how many \
            continued with a purchase that is not a trial. The percentage leaves out trials that \
            are still running and may yet convert.
            """,
            by: Dimension.allCases,
            usual: [.month],
            columns: ["trial_starts", "trial_conversions", "running", "converted_percent"],
            drawn: ("converted_percent", "Share of free trials that converted"),
            sql: embeddedFile("report-trial-conversion.sql")
        ),
        Report(
            "initial-conversion",
            """
            Customers whose first purchase of any kind, a free trial included, falls in the days \
            of the report, and how many of them first paid within 7 and within 30 days after it. \
            The percentages are of those for whom that many days are over (had_7_days, \
            had_30_days). Purchases of family members and assigned seats do not count. \
            initial_conversion is new_customers as a share of installs, which only a file of the \
            operator contains; without it, both are empty. Product, country and kind of offer are \
            those of the first purchase.
            """,
            by: Dimension.allCases,
            usual: [.month],
            columns: [
                "new_customers", "had_7_days", "paying_within_7_days",
                "paying_within_7_days_percent", "had_30_days", "paying_within_30_days",
                "paying_within_30_days_percent", "installs", "initial_conversion_percent",
            ],
            drawn: (
                "paying_within_30_days_percent", "Share of new customers who pay within 30 days"
            ),
            sql: embeddedFile("report-initial-conversion.sql")
        ),
        Report(
            "offers",
            """
            Offers that began in the days of the report, by their name (none for an introductory \
            offer) and kind of discount, and how many of them led to a purchase at the standard \
            price by the last day. The percentage leaves out those that are still running and may \
            yet do so. The purchases of one offer that follow each other count once.
            """,
            by: Dimension.allCases,
            usual: [.offer],
            keys: ["offer", "offer_discount_type"],
            columns: ["offer_starts", "offer_conversions", "running", "converted_percent"],
            greatestFirst: "offer_starts",
            drawn: ("offer_starts", "Offers that began"),
            sql: embeddedFile("report-offers.sql")
        ),
        Report(
            "price-consents",
            """
            Price increases for which Apple asked customers for their consent in the days of the \
            report: how many agreed (consents_accepted), how many subscriptions ended before that \
            (consents_lost), and how many have not answered yet (open). The percentage is of the \
            first two. consents_unanswered are requests that Apple no longer shows, without an \
            answer. An increase that needs no consent is not requested.
            """,
            by: Dimension.allCases,
            usual: [.month, .product],
            columns: [
                "consents_requested", "consents_accepted", "consents_lost", "consents_unanswered",
                "open", "accepted_percent",
            ],
            drawn: ("accepted_percent", "Share of price increases that customers agreed to"),
            sql: embeddedFile("report-price-consents.sql")
        ),
        Report(
            "recovery",
            version: 3,
            """
            Failed renewals that entered billing grace or billing retry in the days of the report, \
            and how many of them recovered next. The percentage leaves out those that are still \
            open. A grace period that ends in billing retry counts in both.
            """,
            by: [.month, .week, .fiscalMonth, .product],
            keys: ["billing_issue"],
            columns: ["entered", "recovered", "open", "recovered_percent"],
            drawn: ("recovered_percent", "Share of failed renewals that recovered"),
            sql: embeddedFile("report-recovery.sql")
        ),
        Report(
            "seats",
            version: 2,
            """
            The seats of multiseat subscriptions at the end of each month and of the last day of \
            the report, UTC; if that day is not over, at Apple's newest signature: sold less those \
            taken back by then, assigned to members, and free. Where the app manages its members \
            (DEVELOPER), Apple signs no transaction for them: how many seats are assigned is then \
            only known to the app and to Apple (`subledger apple seats`). Seats that an \
            organisation bought outside the app are not sold by the app, but their members count \
            as assigned: seats_free is empty if more seats are assigned than sold.
            """,
            by: [.product, .country],
            usual: [.product],
            keys: ["day", "invitation_management"],
            columns: ["subscriptions_count", "seats_sold", "seats_assigned", "seats_free"],
            drawn: ("seats_sold", "Seats sold"),
            sql: embeddedFile("report-seats.sql")
        ),
        Report(
            "mrr",
            version: 4,
            """
            Monthly recurring revenue of the subscriptions that are active at the end of each \
            month and of the last day of the report, UTC; if that day is not over, at Apple's \
            newest signature: each price converted to one month by RevenueCat's formula, before \
            refunds, taxes and commission. arr is twelve times the same sum before mrr is rounded \
            for display, so it can differ from twelve times the mrr shown. arpu is mrr per \
            subscription of active_paid.
            """,
            by: [.product, .country, .offer],
            keys: ["day", "currency"],
            columns: ["active_paid", "mrr_milliunits", "arr_milliunits", "arpu_milliunits"],
            drawn: ("mrr_milliunits", "Monthly recurring revenue"),
            sql: embeddedFile("report-mrr.sql")
        ),
        Report(
            "mrr-movement",
            """
            How monthly recurring revenue (report mrr) moved from the end of one month to the end \
            of the next: subscriptions that were paid for the first time (new), that came back \
            (reactivation), that cost more (expansion) or less (contraction, negative) than before, \
            and that are gone (churned, negative). opening + these + transferred = closing. \
            transferred is what subscriptions take along to another product, country, kind of \
            offer or currency; it is zero in the sum over those. A change of price belongs to where \
            the subscription is after it. gross_retention is what is left of opening after \
            contraction and churned, net_retention also counts expansion; both are for one month. \
            What came and went within a month is in neither.
            """,
            usual: [.month],
            keys: ["currency"],
            columns: [
                "opening_mrr_milliunits", "new_mrr_milliunits", "reactivation_mrr_milliunits",
                "expansion_mrr_milliunits", "contraction_mrr_milliunits", "churned_mrr_milliunits",
                "transferred_mrr_milliunits", "closing_mrr_milliunits", "gross_retention_percent",
                "net_retention_percent",
            ],
            drawn: ("closing_mrr_milliunits", "Monthly recurring revenue at the end of the month"),
            sql: embeddedFile("report-mrr-movement.sql")
        ),
        Report(
            "revenue",
            version: 4,
            """
            What customers paid in the days of the report, including one-time purchases, and what \
            was given back by its last day: by the date of the purchase (given_back, net), and by \
            the date of the refund, less reversed refunds. Both nets are prices less the refunds \
            that Apple signed, before commission and taxes. Apple also refunds the unused part of \
            a period that an upgrade replaces, and signs no amount for it: \
            upgrade_refund_estimate, by the date of the upgrade, is an estimate by time, at most what \
            refunds left of the price by the last day; no other column contains it.
            """,
            by: Dimension.allCases,
            usual: [.month],
            keys: ["currency"],
            columns: [
                "gross_milliunits", "given_back_milliunits", "net_milliunits",
                "given_back_on_refund_date_milliunits", "net_on_refund_date_milliunits",
                "upgrade_refund_estimate_milliunits",
            ],
            drawn: ("gross_milliunits", "Paid by customers"),
            sql: embeddedFile("report-revenue.sql")
        ),
        Report(
            "deferred-revenue",
            """
            What customers have paid and the app has not yet earned. The price of each purchase \
            is recognised evenly over its period, which an extension makes longer; grace is not \
            paid for, and a one-time purchase is recognised at once. opening_deferred + gross - \
            given_back_on_refund_date - upgrade_refund_estimate - recognised = closing_deferred, \
            to the milliunit, and what closes a month opens the next. A refund takes back what was \
            recognised of it; what is kept of a period that a refund or an upgrade ended is \
            recognised at once. The estimate for an upgrade is that of report revenue. If \
            money is converted, all amounts of a purchase have the rate of its first day. Before \
            commission and taxes.
            """,
            usual: [.month],
            keys: ["currency"],
            columns: [
                "opening_deferred_milliunits", "gross_milliunits",
                "given_back_on_refund_date_milliunits", "upgrade_refund_estimate_milliunits",
                "recognised_milliunits", "closing_deferred_milliunits",
            ],
            drawn: ("closing_deferred_milliunits", "Paid and not yet earned"),
            sql: embeddedFile("report-deferred-revenue.sql")
        ),
        Report(
            "refunds",
            """
            Refunds that took effect in the days of the report, and reversals of refunds, each on \
            its own date, by Apple's reason (app_issue, other; none if Apple stated none): how \
            many, and the amounts that Apple signed. given_back_on_refund_date is what was \
            refunded less what was reversed, as in report revenue.
            """,
            by: Dimension.allCases,
            usual: [.month],
            keys: ["refund_reason", "currency"],
            columns: [
                "refunds_count", "refunds_reversed", "refunded_milliunits", "reversed_milliunits",
                "given_back_on_refund_date_milliunits",
            ],
            drawn: ("given_back_on_refund_date_milliunits", "Given back"),
            sql: embeddedFile("report-refunds.sql")
        ),
        Report(
            "refund-rate",
            version: 3,
            """
            Of the paid subscription purchases that began in the days of the report, how many were \
            refunded by its last day. A refund that was reversed by then does not count.
            """,
            by: Dimension.allCases,
            usual: [.month],
            columns: ["paid_purchases", "paid_purchases_refunded", "refunded_percent"],
            drawn: ("refunded_percent", "Share of paid purchases that were refunded"),
            sql: embeddedFile("report-refund-rate.sql")
        ),
        Report(
            "ltv",
            version: 4,
            """
            Realised lifetime value per paying customer, by currency: what customers whose first \
            payment falls in the days of the report have paid since then, less what was given back \
            by its last day. Customers without a payment do not count. Product, country and kind of \
            offer are those of the first payment.
            """,
            keys: ["currency"],
            columns: ["customers_count", "payments_count", "net_milliunits", "ltv_milliunits"],
            drawn: ("ltv_milliunits", "Lifetime value per paying customer"),
            sql: embeddedFile("report-ltv.sql")
        ),
        Report(
            "cohorts",
            version: 3,
            """
            Subscriptions by the month of their first payment, in the days of the report: how many \
            made a payment in the nth calendar month after it, how many payments these were, and \
            the amount that was not given back by the last day.
            """,
            by: [.month, .product, .country, .offer],
            usual: [.month],
            keys: ["month_number", "currency"],
            columns: ["subscriptions_count", "payments_count", "net_milliunits"],
            drawn: ("net_milliunits", "Paid and not given back"),
            sql: embeddedFile("report-cohorts.sql")
        ),
    ]

    /// The report with that name; nil if there is none.
    package static func named(_ name: String) -> Report? { all.first { $0.name == name } }
}
