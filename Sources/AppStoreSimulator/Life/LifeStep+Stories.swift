package import Events

/// Ready-made scripts for stories that are often asked about.
extension LifeStep {
    /// Fifteen steps of an undecided customer: subscribed, renewed, off, expired; resubscribed,
    /// upgraded at once, off, on, a downgrade requested and withdrawn, off, expired; resubscribed,
    /// a refund requested and granted.
    ///
    /// It begins at the instant, a whole second, and takes half a year.
    package static func fifteenSteps(from start: Instant) -> [LifeStep] {
        let plus = SimulatedCatalog.lumen[2]
        let pro = SimulatedCatalog.lumen[0]
        func day(_ number: Int64) -> Instant { start.advanced(days: number) }
        func month(from start: Instant, billedAs first: Instant) -> Instant {
            SimulatedCalendar.end(
                of: .months(1),
                from: start,
                billingDay: SimulatedCalendar.dayOfMonth(first)
            )
        }

        let firstEnd = month(from: start, billedAs: start)
        let secondEnd = month(from: firstEnd, billedAs: start)
        let upgradedEnd = month(from: day(85), billedAs: day(85))
        return [
            .subscribe(plus, offer: nil, at: start),
            .renew(at: firstEnd.advanced(by: -SimulatedCalendar.hour)),
            .turnAutoRenewOff(at: day(40)),
            .expire(.voluntary, at: secondEnd.advanced(by: SimulatedCalendar.minute)),
            .subscribe(plus, offer: nil, at: day(80)),
            .changeNow(to: pro, offer: nil, at: day(85)),
            .turnAutoRenewOff(at: day(86)), .turnAutoRenewOn(at: day(87)),
            .changeAtRenewal(to: plus, at: day(88)), .changeAtRenewal(to: pro, at: day(89)),
            .turnAutoRenewOff(at: day(90)),
            .expire(.voluntary, at: upgradedEnd.advanced(by: SimulatedCalendar.minute)),
            .subscribe(plus, offer: nil, at: day(150)),
            .requestRefund(purchase: 4, at: day(151)),
            .refund(purchase: 4, percentage: nil, at: day(152)),
        ]
    }
}
