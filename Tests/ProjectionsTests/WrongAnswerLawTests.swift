import Events
import Projections
import TestSupport
import Testing

/// Laws of the second clock, for any history.
@Suite struct WrongAnswerLawTests {
    private static let day: Int64 = 86_400_000

    /// Random facts recorded at so few instants that many share one.
    private func story(_ seed: UInt64) -> [(recordedAt: Instant, payload: UInt8, fact: Fact)] {
        var random = RandomFacts(seed: seed)
        return (0..<10).map { _ in
            var fact = random.fact()
            while fact.stream != RandomFacts.streams[0] { fact = random.fact() }
            let days = Int64.random(in: 0...8, using: &random.random)
            return (RandomFacts.day(days), UInt8.random(in: 0...3, using: &random.random), fact)
        }.sorted { $0.0 < $1.0 }
    }

    @Test(arguments: Acceptance.seeds(300))
    func `the wrong stretches agree with asking at every instant`(seed: UInt64) {
        let history = RecordedStory.history(of: story(seed))
        let wrong = WrongAnswers([history])
        let now = Timeline(history.latest).access
        var (denied, granted) = (0, 0)
        let step = Self.day / 4
        for number in 0..<80 {
            // Between the instants at which a change is possible.
            let milliseconds = RandomFacts.day(-2).milliseconds + Int64(number) * step + 700
            let instant = Instant(milliseconds: milliseconds)
            let then = Timeline(history.known(at: instant)).access
            let isEntitled = now.contains { $0.contains(instant) }
            let isServed = then.contains { $0.contains(instant) }
            let kind = wrong.stretch(holding: instant)?.kind
            let expected: WrongAnswers.Kind? =
                isEntitled == isServed ? nil : isEntitled ? .wronglyDenied : .wronglyGranted
            #expect(kind == expected, "seed \(seed), \(instant)")
            let explanation = Explanation([history], at: instant)
            #expect(explanation.entitled.hasAccess == isEntitled, "seed \(seed), \(instant)")
            #expect(explanation.served.hasAccess == isServed, "seed \(seed), \(instant)")
            if expected == .wronglyDenied { denied += 1 }
            if expected == .wronglyGranted { granted += 1 }
        }
        let tolerance = Double(wrong.stretches.count + 1) * Double(step) / 1000
        for (kind, count) in [
            (WrongAnswers.Kind.wronglyDenied, denied), (.wronglyGranted, granted),
        ] {
            let sampled = Double(count) * Double(step) / 1000
            let isNear = abs(Double(wrong.seconds(kind)) - sampled) <= tolerance
            #expect(isNear, "seed \(seed), \(kind): \(wrong.seconds(kind)) and \(sampled)")
        }
    }

    @Test(arguments: Acceptance.seeds(300))
    func `the final knowledge is that of the log`(seed: UInt64) throws {
        let history = RecordedStory.history(of: story(seed))
        let last = try #require(history.instants.last)
        #expect(history.known(at: last) == history.latest, "seed \(seed)")
        #expect(history.known(upTo: .max) == history.latest, "seed \(seed)")
        let first = try #require(history.instants.first)
        let before = history.known(at: Instant(milliseconds: first.milliseconds - 1))
        #expect(before.events.isEmpty && before.confirmations.isEmpty, "seed \(seed)")
        #expect(history.instants == history.instants.sorted(), "seed \(seed)")
    }

    @Test(arguments: Acceptance.seeds(300))
    func `the order of arrival within one instant changes no answer`(seed: UInt64) {
        let facts = story(seed)
        var random = SeededGenerator(seed: seed)
        let shuffled = facts.shuffled(using: &random).sorted { $0.recordedAt < $1.recordedAt }
        let (one, other) = (RecordedStory.history(of: facts), RecordedStory.history(of: shuffled))
        let areSame = WrongAnswers([one]).stretches == WrongAnswers([other]).stretches
        #expect(areSame, "seed \(seed)")
        for day in Int64(-1)...9 {
            let instant = RandomFacts.day(day)
            let (left, right) = (Explanation([one], at: instant), Explanation([other], at: instant))
            #expect(left.entitled.reason == right.entitled.reason, "seed \(seed), \(instant)")
            #expect(left.served.reason == right.served.reason, "seed \(seed), \(instant)")
            #expect(left.difference == right.difference, "seed \(seed), \(instant)")
        }
    }

    @Test(arguments: Acceptance.seeds(300))
    func `the chain cites known events, and removing a decisive one changes the answer`(
        seed: UInt64
    ) {
        let history = RecordedStory.history(of: story(seed))
        for day in Int64(0)...8 {
            let explanation = Explanation([history], at: RandomFacts.day(day))
            let positions = explanation.because.map(\.position)
            #expect(positions.allSatisfy(history.events.map(\.position).contains), "seed \(seed)")
            #expect(explanation.changesIf.allSatisfy(positions.contains), "seed \(seed)")
            #expect(!explanation.entitled.hasAccess || !positions.isEmpty, "seed \(seed)")
            #expect(explanation.because.allSatisfy { $0.lagSeconds >= 0 }, "seed \(seed)")
            for position in explanation.changesIf {
                let without = Timeline(history.latest.without(position)).access
                let hasAccess = without.contains { $0.contains(explanation.at) }
                #expect(hasAccess != explanation.entitled.hasAccess, "seed \(seed)")
            }
        }
    }

    @Test(arguments: Acceptance.seeds(200))
    func `the effects of the events add up to the periods`(seed: UInt64) throws {
        let history = RecordedStory.history(of: story(seed))
        let effects = try #require(EventEffects(history))
        #expect(effects.changes.count == history.events.count)
        let opened = effects.changes.joined().filter { $0.before == nil }.count
        let gone = effects.changes.joined().filter { $0.after == nil }.count
        let last = history.events.last?.position.offset ?? 0
        let rows = ActivePeriods(Timeline(history.known(upTo: last))).rows.count
        #expect(opened - gone == rows, "seed \(seed)")
    }
}

extension Timeline {
    /// The times of access: from periods and from owned purchases.
    fileprivate var access: [Range<Instant>] {
        ActivePeriods(self).active + OneTimePurchase.all(of: self).flatMap(\.owned)
    }
}
