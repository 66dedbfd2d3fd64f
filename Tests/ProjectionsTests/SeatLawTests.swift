import Events
import TestSupport
import Testing

@testable import Projections

/// Random lives of seats and bundles, and what older programs wrote of them.
struct SeatLawTests {
    private static let lives = Acceptance.isRunning ? 10_000 : 400

    @Test func `a slow plain model of seats, members and bundles predicts access`() async throws {
        let broken = try await Histories.each(Histories.numbers(unlessTold: SeatLawTests.lives)) {
            number in
            var random = RandomFacts(seed: UInt64(number), hasOldFormats: number.isMultiple(of: 4))
            let facts = random.seatFacts(Int.random(in: 1...10, using: &random.random))
            let ledger = MemoryLedger([facts])
            return ledger.streams.compactMap { stream in
                let timeline = ledger.timeline(of: stream)
                let rows = ActivePeriods(timeline).rows.map(\.values)
                let plain = PlainActivePeriods(facts.filter { $0.stream == stream })
                return Set(rows) == plain.rowValues(of: stream) ? nil : "seed \(number)"
            }
        }
        #expect(broken.isEmpty, "\(Histories.summary(broken))")
    }

    @Test func `a slow plain model predicts the money of seats`() async throws {
        let broken = try await Histories.each(Histories.numbers(unlessTold: SeatLawTests.lives)) {
            number in
            var random = RandomFacts(seed: UInt64(number))
            let facts = random.seatFacts(Int.random(in: 1...10, using: &random.random))
            let ledger = MemoryLedger([facts])
            return ledger.streams.flatMap { stream -> [String] in
                let timeline = ledger.timeline(of: stream)
                let rows = TransactionRows(timeline, .none).rows.map {
                    PlainSeatMoney(gross: $0.money.grossMilliunits, net: $0.money.netMilliunits)
                }
                let plain = PlainActivePeriods(facts.filter { $0.stream == stream })
                let predicted = plain.moneyOfSeats
                let isSame = rows.sorted() == predicted.sorted()
                return isSame ? [] : ["seed \(number): \(rows.sorted()) \(predicted.sorted())"]
            }
        }
        #expect(broken.isEmpty, "\(Histories.summary(broken))")
    }

    @Test func `no refund of seats gives back more than was paid`() async throws {
        let broken = try await Histories.each(Histories.numbers(unlessTold: 1500)) { number in
            var random = RandomFacts(seed: UInt64(number))
            let facts = random.seatFacts(Int.random(in: 1...12, using: &random.random))
            let ledger = MemoryLedger([facts])
            return ledger.streams.flatMap { stream -> [String] in
                TransactionRows(ledger.timeline(of: stream), .none).rows.compactMap { row in
                    guard let gross = row.money.grossMilliunits, let net = row.money.netMilliunits
                    else { return nil }
                    return 0 <= net && net <= gross ? nil : "seed \(number): \(net) of \(gross)"
                }
            }
        }
        #expect(broken.isEmpty, "\(Histories.summary(broken))")
    }

    /// The canonical bytes of contents as the program of 340091fd stored them, which knew no seats.
    @Test func `a rebuild reads seats from events that an older program wrote`() throws {
        let contents = [OldSeats.purchase, OldSeats.refunded, OldSeats.addition]
        let dates = [("03-01", "03-01"), ("03-01", "03-20"), ("03-11", "03-11")]
        let facts = try zip(contents, dates).map { hex, dates in
            Fact(
                stream: TimelineText.stream,
                bundleId: "app",
                kind: .transaction,
                purchaseDate: try TimelineText.instant(dates.0),
                expiresDate: try TimelineText.instant("04-01"),
                asOf: try TimelineText.instant(dates.1),
                content: try #require(Content(canonicalBytes: OldSeats.bytes(hex)))
            )
        }
        let timeline = MemoryLedger([facts]).timeline(of: TimelineText.stream)
        #expect(
            describe(TransactionRows(timeline, .none)) == [
                "team 03-01..04-01 n=1 paid=1 refunded=03-20 8400/11200 seats=9/12",
                "team 03-11..04-01 n=1 paid=1 1000/1000 seats=2/2 added-to=03-01",
            ]
        )
        #expect(
            describe(ActivePeriods(timeline)) == [
                "paid team 03-01..04-01 open seats=11", "active 03-01..04-01",
            ]
        )
        #expect(
            describe(Refunds(timeline)) == [
                "refunded seats team 03-01 told=03-20 seats=3 2800/11200 net"
            ]
        )
    }
}

/// Stored contents; `SeatContentTests` of AppStore shows that this program still reads the same
/// payloads as the same bytes.
private enum OldSeats {
    static let purchase =
        "010101013903047465616d051b4175746f2d52656e657761626c65205375627363726970"
        + "74696f6e06095055524348415345440808000000000000000c0b034555520c0800000000"
        + "000003a53f787b226d756c746953656174496e666f223a7b22696e7669746174696f6e4d"
        + "616e6167656d656e74223a224150504c45222c2270726963655469657273223a5b7b2270"
        + "72696365223a313030302c227175616e74697479223a387d2c7b227072696365223a3830"
        + "302c227175616e74697479223a347d5d7d7d"
    static let refunded =
        "010101013903047465616d051b4175746f2d52656e657761626c65205375627363726970"
        + "74696f6e06095055524348415345440808000000000000000c0b034555520c0800000000"
        + "000003a53f90017b226d756c746953656174496e666f223a7b22696e7669746174696f6e"
        + "4d616e6167656d656e74223a224150504c45222c2270726963655469657273223a5b7b22"
        + "7072696365223a313030302c227175616e74697479223a387d2c7b227072696365223a38"
        + "30302c227175616e74697479223a347d5d2c227265766f6b6564536561745175616e7469"
        + "7479223a337d7d"
    static let addition =
        "01010102313003047465616d051b4175746f2d52656e657761626c652053756273637269"
        + "7074696f6e0609505552434841534544080800000000000000020b034555520c08000000"
        + "00000001f43f8a017b226164646974696f6e616c5472616e73616374696f6e526561736f"
        + "6e223a22534541545f4144444954494f4e222c226d756c746953656174496e666f223a7b"
        + "22696e7669746174696f6e4d616e6167656d656e74223a224150504c45222c2270726963"
        + "655469657273223a5b7b227072696365223a3530302c227175616e74697479223a327d5d"
        + "7d7d"

    static func bytes(_ hex: String) -> [UInt8] {
        stride(from: 0, to: hex.utf8.count, by: 2).compactMap { at in
            UInt8(hex.dropFirst(at).prefix(2), radix: 16)
        }
    }
}

/// What a transaction cost and what was kept, by the plain model.
struct PlainSeatMoney: Comparable {
    let gross: Int64?
    let net: Int64?

    static func < (left: Self, right: Self) -> Bool {
        (left.gross ?? -1, left.net ?? -1) < (right.gross ?? -1, right.net ?? -1)
    }
}

extension PlainActivePeriods {
    /// What each transaction cost: the tiers of every seat, less what was refunded.
    fileprivate var moneyOfSeats: [PlainSeatMoney] {
        purchases.flatMap { period in
            ([period] + period.additions).map { transaction in
                transaction.money(isReplaced: takesRestBack(transaction, of: period))
            }
        }
    }
}

extension PlainPurchase {
    // Seats that were taken back count with their share; a refund of the whole takes all that is
    // left, and one of the rest of a replaced period an unknown amount.
    fileprivate func money(isReplaced: Bool) -> PlainSeatMoney {
        guard text(.inAppOwnershipType) != "ASSIGNED", let gross = gross else {
            return PlainSeatMoney(gross: nil, net: nil)
        }
        guard text(.inAppOwnershipType) != "FAMILY_SHARED" else {
            return PlainSeatMoney(gross: gross, net: gross)
        }
        let taken = takenSeats
        var kept: Int64? = gross
        if taken > 0 {
            kept = quantity.map { seats in
                gross - (gross * min(taken, seats) * 2 + seats) / (seats * 2)
            }
        }
        guard instant(.revocationDate) != nil,
            state(of: .revocationReason, in: facts) != .value(.integer(2))
        else { return PlainSeatMoney(gross: gross, net: kept) }
        switch text(.revocationType) {
        case "REFUND_FULL": return PlainSeatMoney(gross: gross, net: 0)
        case _ where isReplaced: return PlainSeatMoney(gross: gross, net: nil)
        case "ASSIGNMENT_REVOKE", "FAMILY_REVOKE":
            return PlainSeatMoney(gross: gross, net: kept)
        default: return PlainSeatMoney(gross: gross, net: 0)
        }
    }

    // How many seats were taken back one by one, by the last statement that the whole was not.
    private var takenSeats: Int64 {
        for asOf in Set(facts.map(\.asOf)).sorted().reversed() {
            let stated = facts.filter { $0.asOf == asOf }
            if case .value = state(of: .revocationDate, in: stated) { continue }
            let ofSeats = stated.filter { $0.statedSeats != nil }.max { left, right in
                (left.content[.extra].map(Knowledge.State.value) ?? .none)
                    < (right.content[.extra].map(Knowledge.State.value) ?? .none)
            }
            if let ofSeats { return ofSeats.statedSeats?.taken ?? 0 }
        }
        return 0
    }

    private var quantity: Int64? {
        if case .value(.integer(let quantity)) = state(of: .quantity, in: facts) {
            quantity
        } else {
            nil
        }
    }

    private var gross: Int64? {
        if let seats, !seats.tiers.isEmpty { return seats.sum }
        guard case .value(.integer(let price)) = state(of: .price, in: facts) else { return nil }
        guard let quantity, seats != nil || quantity > 1 else { return price }
        return price * quantity
    }
}
