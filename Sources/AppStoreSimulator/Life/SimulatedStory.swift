package import Events

/// Stories of seats, bundles and offers that Apple introduced in 2026, each with its truth.
package enum SimulatedStory: String, CaseIterable, Hashable, Sendable {
    /// Eight seats, four more in the middle of the period, six fewer at the renewal.
    case seatsAddedAndReduced
    /// Three of twelve seats refunded.
    case seatsRefunded
    /// All seats refunded: first those of an addition, then those of the purchase.
    case allSeatsRefunded
    /// An organisation assigns two seats, takes one back, and assigns it again.
    case organisationAssigns
    /// A group whose members the developer manages; Apple releases two claims.
    case developerUnclaims
    /// From a subscription of its own into a bundle and back: three subscriptions.
    case intoBundleAndOut
    /// A part of a suite that ends because the customer leaves the suite.
    case suiteUnbundled
    /// A customer about to cancel accepts a retention offer.
    case retentionOffer
    /// A commitment whose fifth instalment cannot be charged, and is made up for.
    case commitmentSuspended
}

extension AppStoreSimulator {
    /// The lives of a story from an instant on, a whole second, in the order in which they begin.
    ///
    /// They share no id with random lives or customers.
    package func lives(of story: SimulatedStory, from start: Instant) -> [SubscriptionLife] {
        StoryTeller(simulator: self, story: story, start: start).lives
    }
}

/// Writes the scripts of a story.
private struct StoryTeller {
    let simulator: AppStoreSimulator
    let story: SimulatedStory
    let start: Instant

    // Lives are numbered from 0, customers' from 5 · 10^8, those of stories from here on.
    private static let firstLife: Int64 = 600_000_000
    private static let livesPerStory: Int64 = 10

    private var monthly: SimulatedProduct { SimulatedCatalog.lumen[2] }

    var lives: [SubscriptionLife] {
        switch story {
        case .seatsAddedAndReduced:
            one([
                .buySeats(monthly, SimulatedSeats(8), at: start), .addSeats(4, at: day(14)),
                .changeSeatsAtRenewal(to: 6, at: day(20)), .renew(at: end(1)),
            ])
        case .seatsRefunded:
            one([
                .buySeats(monthly, SimulatedSeats(12), at: start),
                .refundSeats(.purchase(0), quantity: 3, at: day(10)), .renew(at: end(1)),
            ])
        case .allSeatsRefunded:
            one([
                .buySeats(monthly, SimulatedSeats(6), at: start), .addSeats(2, at: day(5)),
                .refundSeats(.purchase(0), quantity: nil, at: day(10)),
                .refundSeats(.addition(0), quantity: nil, at: day(12)),
            ])
        case .organisationAssigns: organisationAssigns
        case .developerUnclaims:
            one([
                .buySeats(monthly, SimulatedSeats(5, invitations: .developer), at: start),
                .changeSeatsAtRenewal(to: 3, at: day(3)), .renew(at: end(1)),
                .unclaimSeats(Self.claims, at: day(40)),
            ])
        case .intoBundleAndOut: intoBundleAndOut
        case .suiteUnbundled:
            one(
                [
                    .subscribe(monthly, offer: nil, at: start), .leaveBundle(at: day(20)),
                    .expire(.unbundled, at: later(end(1))),
                ],
                bundle: .suite(bundleId)
            )
        case .retentionOffer: one(retentionOffer)
        case .commitmentSuspended: one(commitmentSuspended)
        }
    }

    // The organisation's own purchase is not one of the app: only its members' are.
    private var organisationAssigns: [SubscriptionLife] {
        let seats = SimulatedSeats(20)
        return [
            simulator.life(
                identity(0, ownership: .assigned),
                [
                    .buySeats(monthly, seats, at: start), .stopSharing(at: day(10)),
                    .buySeats(monthly, seats, at: day(25)),
                ]
            ),
            simulator.life(
                identity(1, ownership: .assigned),
                [
                    .buySeats(monthly, seats, at: day(10)),
                    .renew(at: SimulatedCalendar.end(of: .months(1), from: day(10))),
                    .stopSharing(at: day(50)),
                ]
            ),
        ]
    }

    private var intoBundleAndOut: [SubscriptionLife] {
        let (alone, part) = (identity(0), identity(1))
        let bundled = identity(1, bundle: .office(bundleId), previous: alone.originalTransactionId)
        let again = identity(2, previous: part.originalTransactionId)
        let bundleEnd = SimulatedCalendar.end(of: .months(1), from: day(10))
        return [
            simulator.life(
                alone,
                [.subscribe(monthly, offer: nil, at: start), .moveToBundle(at: day(10))]
            ),
            simulator.life(
                bundled,
                [
                    .subscribe(monthly, offer: nil, at: day(10)), .leaveBundle(at: day(30)),
                    .expire(.unbundled, at: later(bundleEnd)),
                ]
            ),
            simulator.life(again, [.subscribe(monthly, offer: nil, at: bundleEnd)]),
        ]
    }

    private var retentionOffer: [LifeStep] {
        [
            .subscribe(monthly, offer: nil, at: start),
            .turnAutoRenewOff(at: day(20)), .turnAutoRenewOn(at: day(21)),
            .redeem(
                .payUpFront(.months(1), .retention, identifier: "PLEASESTAY"),
                at: later(day(21))
            ),
            .renew(at: end(1)),
        ]
    }

    private var commitmentSuspended: [LifeStep] {
        let committed = SimulatedCatalog.harbor[0]
        return [
            .subscribe(committed, offer: nil, at: start), .renew(at: end(1)), .renew(at: end(2)),
            .renew(at: end(3)), .failToRenew(graceUntil: nil, at: later(end(4))),
            .recover(at: end(4).advanced(days: 20)),
        ]
    }

    private static let claims = [
        "7c9e6679-7425-40de-944b-e07fc1f90ae7", "0f8fad5b-d9cb-469f-a165-70867728950e",
    ]

    // A subscription to a bundle is a stream that the app does not see.
    private var bundleId: String { identity(9).originalTransactionId }

    private func identity(
        _ number: Int64,
        ownership: LifeIdentity.Ownership = .purchased,
        bundle: SimulatedBundle? = nil,
        previous: String? = nil
    ) -> LifeIdentity {
        let place = SimulatedStory.allCases.firstIndex(of: story) ?? 0
        return LifeIdentity(
            seed: simulator.seed,
            index: Self.firstLife + Int64(place) * Self.livesPerStory + number,
            ownership: ownership,
            bundle: bundle,
            previousOriginalTransactionId: previous
        )
    }

    private func one(_ script: [LifeStep], bundle: SimulatedBundle? = nil) -> [SubscriptionLife] {
        [simulator.life(identity(0, bundle: bundle), script)]
    }

    private func day(_ number: Int64) -> Instant { start.advanced(days: number) }

    // The end of a period, counted from 1.
    private func end(_ number: Int64) -> Instant {
        SimulatedCalendar.end(of: .months(number), from: start)
    }

    private func later(_ instant: Instant) -> Instant {
        instant.advanced(by: SimulatedCalendar.minute)
    }
}
