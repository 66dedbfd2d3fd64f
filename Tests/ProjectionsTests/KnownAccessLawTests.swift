import Events
import TestSupport
import Testing

@testable import Projections

/// What explanations compute once and share must equal what a fold of each state of knowledge says.
@Suite struct KnownAccessLawTests {
    private static let lateMilliseconds: [Int64] = [0, 0, 2000, 3_600_000, 30 * 86_400_000]

    /// A history whose facts arrive at once, some seconds late, or weeks late, in commits.
    private static func history(
        _ random: inout RandomFacts,
        _ stream: StreamID,
        count: Int
    ) -> RecordedHistory {
        let facts = random.facts(count).filter { $0.stream == stream }
        let repeated = facts.filter { _ in random.chance(3) }.map { _ in random.poll(of: facts) }
        let arrivals = (facts + repeated).map { fact in
            let late = random.pick(lateMilliseconds)
            return (
                recordedAt: Instant(milliseconds: fact.asOf.milliseconds + late), payload: UInt8(0),
                fact: fact
            )
        }
        return RecordedStory.history(of: arrivals.sorted { $0.recordedAt < $1.recordedAt })
    }

    private static var withoutGrace: AccessPolicy {
        AccessPolicy(graceCounts: false, familyCounts: true, reversalIsRetroactive: false)
    }

    private static func plain(
        _ known: StreamHistory,
        _ scope: KnownAccess.Scope
    ) -> (rows: [ActivePeriod], oneTime: [OneTimePurchase]) {
        let timeline = Timeline(known).under(scope.policy)
        return (
            ActivePeriods(timeline).rows.filter { $0.isOf(scope.product) },
            OneTimePurchase.all(of: timeline).filter { $0.isOf(scope.product) }
        )
    }

    @Test(arguments: UInt64(1)...200)
    func `steps by both clocks are those of a fold each`(seed: UInt64) throws {
        var random = RandomFacts(seed: seed, hasOldFormats: seed % 2 == 0)
        let count = seed % 20 == 0 ? 200 : Int.random(in: 1...16, using: &random.random)
        let history = Self.history(&random, RandomFacts.streams[0], count: count)
        let scope = KnownAccess.Scope(
            random.pick([nil, nil, "a", "e\u{301}"]),
            random.pick([.current, Self.withoutGrace])
        )
        let first = random.pick(history.instants + [Instant(milliseconds: 0)])
        let known = KnownAccess(
            random.chance(3) ? history.asFirstSeen(at: first) : history,
            in: scope
        )
        for step in known.steps {
            let plain = Self.plain(known.history.known(at: step.knownFrom), scope)
            #expect(step.rows == plain.rows && step.oneTime == plain.oneTime, "seed \(seed)")
        }
        let stated = KnownAccess(stated: history, in: scope, knownAs: known)
        #expect(stated.steps.map(\.knownFrom) == history.statedInstants)
        for step in stated.steps {
            let plain = Self.plain(history.stated(by: step.knownFrom), scope)
            #expect(step.rows == plain.rows && step.oneTime == plain.oneTime, "seed \(seed)")
        }
    }

    @Test(arguments: UInt64(1)...100)
    func `the course of answers is that of each state of knowledge`(seed: UInt64) throws {
        var random = RandomFacts(seed: seed)
        let scope = KnownAccess.Scope(nil, .current)
        let accesses = RandomFacts.streams.map { stream in
            KnownAccess(Self.history(&random, stream, count: 24), in: scope)
        }
        let course = KnowledgeCourse(accesses)
        let edges = accesses.flatMap { $0.steps.last?.rows ?? [] }.map(\.validFrom)
        for instant in (edges + course.instants).shuffled(using: &random.random).prefix(12) {
            let answers = course.answers(at: instant)
            #expect(answers.map(\.knownFrom) == course.instants)
            for known in answers {
                let at = known.knownFrom
                let (rows, oneTime) = (
                    accesses.rows(knownAt: at), accesses.oneTimePurchases(knownAt: at)
                )
                let starts = rows.map(\.validFrom) + oneTime.map(\.purchaseDate)
                #expect(known.firstPurchase == starts.min(), "seed \(seed)")
                #expect(
                    known.answer == accesses.answer(at: instant, knownAt: at),
                    "seed \(seed) at \(instant) known at \(at)"
                )
                let granting = rows.contains { $0.validFrom <= instant && instant < $0.validTo }
                #expect(
                    known.answer.hasAccess
                        == (granting || oneTime.contains { $0.isOwned(at: instant) })
                )
            }
            for wrong in [true, false] {
                var (before, turn) = (instant, (before: instant, after: instant))
                for next in course.instants where instant < next {
                    let isWrong = accesses.answer(at: instant, knownAt: before).hasAccess == wrong
                    let isNext = accesses.answer(at: instant, knownAt: next).hasAccess == wrong
                    if isWrong, !isNext { turn = (before, next) }
                    before = next
                }
                let found = course.turn(at: instant, fromWrong: wrong)
                #expect(found == turn, "seed \(seed) at \(instant)")
            }
        }
    }

    @Test func `rows that stay the same are no change, however many there are`() throws {
        for seed in UInt64(1)...60 {
            var random = RandomFacts(seed: seed)
            let history = Self.history(&random, RandomFacts.streams[0], count: 16)
            let all = ActivePeriods(Timeline(history.latest)).rows
            #expect(PeriodChange.between(all, all).isEmpty)
            let effects = try #require(EventEffects(history))
            let newest = try #require(EventEffects(history, newestMax: 3))
            #expect(Array(effects.changes.suffix(3)) == newest.changes, "seed \(seed)")
        }
    }
}
