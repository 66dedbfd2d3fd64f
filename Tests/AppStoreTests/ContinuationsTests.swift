import Events
import Testing

@testable import AppStore

/// Renewals that have original ids of their own (Decisions).
@Suite struct ContinuationsTests {
    private static let continues = Continuation.continues
    private static let isContinuedBy = Continuation.isContinuedBy

    /// A month of a product, by the number of its month.
    private func row(
        _ id: String,
        _ month: Int64,
        product: String = "pro",
        _ change: (inout Content) -> Void = { _ in }
    ) -> Fact {
        let length: Int64 = 2_592_000_000
        var content = Content(format: .receiptTransaction)
        content[.productId] = .text(product)
        change(&content)
        return Fact(
            stream: StreamID(environment: .production, originalTransactionId: id),
            bundleId: "app",
            kind: .transaction,
            purchaseDate: Instant(milliseconds: month * length),
            expiresDate: Instant(milliseconds: (month + 1) * length),
            asOf: Instant(milliseconds: 100 * length),
            content: content
        )
    }

    private func links(_ facts: [Fact]) -> [String] {
        Continuations.stated(in: facts).map { fact in
            let extra = ExtraObject(fact.content.text(.extra) ?? "")
            return [extra.text(Self.continues), extra.text(Self.isContinuedBy)]
                .map { $0 ?? "-" }.joined(separator: " ")
        }
    }

    @Test func `each row names the subscription before and after it, in any order`() {
        let rows = [row("1", 1), row("2", 2), row("3", 3)]
        #expect(links(rows) == ["- 2", "1 3", "2 -"])
        #expect(links(rows.reversed()) == ["2 -", "1 3", "- 2"])
        #expect(links([row("1", 1), row("1", 2), row("2", 3)]) == ["- -", "- 2", "1 -"])
    }

    @Test func `a gap, another product, a refund and a shared purchase continue nothing`() {
        let none = ["- -", "- -"]
        #expect(links([row("1", 1), row("2", 3)]) == none)
        #expect(links([row("1", 1), row("2", 2, product: "basic")]) == none)
        let refunded = row("1", 1) { $0[.revocationDate] = .instant(Instant(milliseconds: 0)) }
        #expect(links([refunded, row("2", 2)]) == none)
        let shared = row("2", 2) { $0[.inAppOwnershipType] = .text("FAMILY_SHARED") }
        #expect(links([row("1", 1), shared]) == none)
    }

    @Test func `what is ambiguous, and what is one subscription, stays as it is`() {
        let two = [row("1", 1), row("2", 2), row("3", 2)]
        #expect(Continuations.stated(in: two) == two)
        let renewed = [row("1", 1), row("1", 2), row("2", 2)]
        #expect(Continuations.stated(in: renewed) == renewed)
        let single = [row("1", 1), row("1", 2)]
        #expect(Continuations.stated(in: single) == single)
    }

    @Test func `other properties stay, and a fact is what earlier programs read without the names`()
        throws
    {
        let old = row("1", 1) { $0[.extra] = .text(#"{"1799":"00","zzz":1}"#) }
        let new = try #require(Continuations.stated(in: [old, row("2", 2)]).first)
        #expect(
            new.content.text(.extra)
                == #"{"1799":"00","continuedByOriginalTransactionId":"2","zzz":1}"#
        )
        #expect(new.withoutContinuation == old)
        #expect(old.withoutContinuation == nil)
    }
}
