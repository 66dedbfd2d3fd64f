package import Events

/// When each payload arrives, on the ledger's clock.
///
/// Apple's clock defines what was true; this one defines when a ledger could know it. A lost
/// payload is fetched later from the notification history, which returns the bytes that were sent
/// (Apple's data: server API).
package struct DeliverySchedule: Sendable {
    /// What happens to a payload on its way.
    package enum Fate: String, CaseIterable, Hashable, Sendable {
        /// It arrives within seconds.
        case prompt
        /// It arrives after about an hour (Apple's data: delivery).
        case hourLate
        /// It arrives with one of the last retries, days later.
        case daysLate
        /// No attempt succeeds; it is fetched days later.
        case lostThenFetched
    }

    /// A payload and its arrival time.
    package struct Arrival: Hashable, Sendable {
        /// The payload.
        package let delivery: Delivery
        /// When it arrives, on the ledger's clock.
        package let arrivesAt: Instant
        /// How it arrived.
        package let fate: Fate

        /// An arrival.
        package init(delivery: Delivery, arrivesAt: Instant, fate: Fate) {
            self.delivery = delivery
            self.arrivesAt = arrivesAt
            self.fate = fate
        }
    }

    /// The arrivals, in order.
    package let arrivals: [Arrival]
    /// Whether no payload arrives before one that was signed earlier.
    package let keepsOrder: Bool

    /// A schedule drawn from a seed; 7 of 10 payloads are prompt.
    ///
    /// - Parameters:
    ///   - deliveries: What was sent, in any order.
    ///   - seed: The seed of the delays.
    ///   - keepsOrder: Whether a late payload holds up the later ones; `served(at:by:)` and
    ///     `misservice(by:)` require it.
    package init(of deliveries: [Delivery], seed: UInt64, keepsOrder: Bool = true) {
        var generator = SeededGenerator(seed: seed, branch: Self.branch)
        var arrivals: [Arrival] = []
        var latest = Instant(milliseconds: .min)
        for delivery in deliveries.sorted(by: { $0.signedAt < $1.signedAt }) {
            let fate = Self.fate(using: &generator)
            let delay = generator.integer(in: Self.delay(of: fate))
            var arrivesAt = delivery.signedAt.advanced(by: delay)
            if keepsOrder { arrivesAt = max(arrivesAt, latest) }
            latest = max(latest, arrivesAt)
            arrivals.append(Arrival(delivery: delivery, arrivesAt: arrivesAt, fate: fate))
        }
        self.arrivals = keepsOrder ? arrivals : Self.inOrder(arrivals)
        self.keepsOrder = keepsOrder
    }

    /// A hand-written schedule, in any order.
    package init(_ arrivals: [Arrival]) {
        self.arrivals = Self.inOrder(arrivals)
        keepsOrder = zip(self.arrivals, self.arrivals.dropFirst()).allSatisfy {
            $0.delivery.signedAt <= $1.delivery.signedAt
        }
    }

    private static let branch: UInt64 = 0x5343_4845_4455_4c45

    // Of several at one instant, the one that was given first comes first.
    private static func inOrder(_ arrivals: [Arrival]) -> [Arrival] {
        arrivals.enumerated().sorted { left, right in
            (left.element.arrivesAt, left.offset) < (right.element.arrivesAt, right.offset)
        }.map(\.element)
    }

    private static func fate(using generator: inout SeededGenerator) -> Fate {
        switch generator.integer(in: 0...99) {
        case 0..<70: .prompt
        case 70..<85: .hourLate
        case 85..<93: .daysLate
        default: .lostThenFetched
        }
    }

    // Apple retries for six and a half days (Apple's data: delivery), and a poller fetches once a
    // day.
    private static func delay(of fate: Fate) -> ClosedRange<Int64> {
        switch fate {
        case .prompt: 100...5000
        case .hourLate: 30 * SimulatedCalendar.minute...90 * SimulatedCalendar.minute
        case .daysLate: SimulatedCalendar.day...6 * SimulatedCalendar.day
        case .lostThenFetched: SimulatedCalendar.day...10 * SimulatedCalendar.day
        }
    }
}

/// What a ledger got wrong because it did not know better, in milliseconds.
package struct Misservice: Hashable, Sendable {
    /// Access that was paid for and not given.
    package let denied: Int64
    /// Access that was given and not paid for.
    package let granted: Int64

    /// A number of milliseconds of each.
    package init(denied: Int64, granted: Int64) {
        self.denied = denied
        self.granted = granted
    }
}

extension SubscriptionLife {
    /// The rows known at an instant of the receiver's clock; empty before the first arrival.
    ///
    /// The schedule must be one of this life's deliveries that keeps the order of signing.
    package func served(at instant: Instant, by schedule: DeliverySchedule) -> [SimulatedPeriod] {
        newestSigning(at: instant, by: schedule).map { periods(asOf: $0) } ?? []
    }

    /// Whether a service that knew only what had arrived gave access at that instant.
    package func isServed(at instant: Instant, by schedule: DeliverySchedule) -> Bool {
        served(at: instant, by: schedule).contains {
            $0.validFrom <= instant && instant < $0.validTo
        }
    }

    /// What was wrongly denied and granted up to the last arrival, after which everything is known.
    package func misservice(by schedule: DeliverySchedule) -> Misservice {
        let arrivals = arrivals(in: schedule)
        guard let end = arrivals.last?.arrivesAt else { return Misservice(denied: 0, granted: 0) }
        let truth = active
        let known = arrivals.map { AccessInterval.union(of: periods(asOf: $0.delivery.signedAt)) }
        var starts = [min(truth.first?.from ?? end, end)]
        starts += arrivals.map(\.arrivesAt)
        var (denied, granted): (Int64, Int64) = (0, 0)
        for (number, start) in starts.enumerated() {
            let stop = number + 1 < starts.count ? starts[number + 1] : end
            guard start < stop else { continue }
            let span = AccessInterval(from: start, to: stop)
            let given = number == 0 ? [] : known[number - 1]
            let both = truth.flatMap { one in given.map { one.overlap(with: $0, in: span) } }
                .reduce(0, +)
            denied += truth.reduce(0) { $0 + $1.overlap(with: span, in: span) } - both
            granted += given.reduce(0) { $0 + $1.overlap(with: span, in: span) } - both
        }
        return Misservice(denied: denied, granted: granted)
    }

    private func newestSigning(at instant: Instant, by schedule: DeliverySchedule) -> Instant? {
        arrivals(in: schedule).last { $0.arrivesAt <= instant }?.delivery.signedAt
    }

    // One-time purchases are separate streams: payloads about them say nothing about this one.
    private func arrivals(in schedule: DeliverySchedule) -> [DeliverySchedule.Arrival] {
        precondition(schedule.keepsOrder, "served answers need a schedule that keeps the order")
        let about = Set(
            chapters.filter { !$0.isSeparate }
                .flatMap { $0.signingInstants + [$0.signedAt] }
        )
        return schedule.arrivals.filter { about.contains($0.delivery.signedAt) }
    }
}

extension AccessInterval {
    /// How long both intervals and the span overlap, in milliseconds.
    fileprivate func overlap(with other: AccessInterval, in span: AccessInterval) -> Int64 {
        let from = max(self.from, other.from, span.from)
        let to = min(self.to, other.to, span.to)
        return max(0, to.milliseconds - from.milliseconds)
    }
}
