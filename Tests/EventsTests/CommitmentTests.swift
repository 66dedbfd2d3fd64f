import Events
import Testing

/// What the digests of a row cover, and which parts can be removed without breaking them.
struct CommitmentTests {
    private let salt = Salt(bytes: Array(0..<16)) ?? .random()
    private let record = Digest.of([1])

    private func event(_ change: (inout Content) -> Void = { _ in }) -> Event {
        var content = Content(format: .signedTransaction)
        content[.productId] = .text("monthly")
        content[.appAccountToken] = .text("8f37f12f-fd02-45a9-8245-000000000000")
        content[.extra] = .text("{\"name\":\"anna\"}")
        change(&content)
        return Event(
            position: Position(lane: .only, offset: 1),
            recordedAt: Instant(milliseconds: 3),
            fact: Fact(
                stream: StreamID(environment: .production, originalTransactionId: "1"),
                bundleId: "example",
                kind: .transaction,
                purchaseDate: nil,
                expiresDate: nil,
                asOf: Instant(milliseconds: 2),
                content: content
            ),
            evidence: 1
        )
    }

    @Test func `each part has its own commitment`() {
        let whole = event().commitments(keys: CommitmentKeys(salt), evidence: record)
        let other = event { $0[.appAccountToken] = nil }.commitments(
            keys: CommitmentKeys(salt),
            evidence: record
        )
        #expect(other.purchase == whole.purchase && other.evidence == whole.evidence)
        #expect(other.person != whole.person && other.digest != whole.digest)
        let cheaper = event { $0[.productId] = .text("yearly") }
            .commitments(keys: CommitmentKeys(salt), evidence: record)
        #expect(cheaper.purchase != whole.purchase && cheaper.person == whole.person)
        let elsewhere = event().commitments(keys: CommitmentKeys(salt), evidence: Digest.of([2]))
        #expect(elsewhere.purchase == whole.purchase && elsewhere.evidence != whole.evidence)
        #expect(
            event().commitments(keys: CommitmentKeys(salt), evidence: record, store: "other")
                != whole
        )
    }

    @Test func `every commitment depends on the salt`() {
        let one = event().commitments(keys: CommitmentKeys(salt), evidence: record)
        let two = event().commitments(keys: CommitmentKeys(.random()), evidence: record)
        #expect(one.purchase != two.purchase)
        #expect(one.person != two.person)
        #expect(one.evidence != two.evidence)
    }

    @Test
    func `a content splits into two parts, and one holds everything that identifies a person`()
        throws
    {
        var content = event().fact.content
        content[.linkReason] = .text("a call")
        content[.customerId] = .text("anna")
        let (purchase, person) = content.parts
        #expect(purchase.count + person.count == content.canonicalBytes.count)
        let kept = try #require(Content(canonicalBytes: purchase))
        #expect(kept.entries.map(\.field) == [.productId])
        let removed = try #require(Content(canonicalBytes: [1, 1] + person))
        #expect(
            removed.entries.map(\.field) == [.appAccountToken, .customerId, .linkReason, .extra]
        )
    }

    @Test func `unknown tags of later versions are split by fixed ranges`() throws {
        // Tags 25 to 31 and from 192 belong to the person, all other unknown tags to the purchase.
        let bytes: [UInt8] = [1, 1, 30, 1, 9, 62, 1, 9, 64, 1, 9, 191, 1, 9, 192, 1, 9, 255, 1, 9]
        let content = try #require(Content(canonicalBytes: bytes))
        #expect(content.parts.purchase == [1, 1, 62, 1, 9, 64, 1, 9, 191, 1, 9])
        #expect(content.parts.person == [30, 1, 9, 192, 1, 9, 255, 1, 9])
        #expect(content.unrecognised.map(\.tag) == [30, 62, 64, 191, 192, 255])
    }

    /// The value of a second implementation (Tests/EventLogTests/verify_chain.py computes the
    /// same).
    @Test func `the digest of a row covers its three commitments`() {
        let commitments = event().commitments(keys: CommitmentKeys(salt), evidence: record)
        var writer = ByteWriter()
        writer.prefixed("subledger/row")
        for part in [commitments.purchase, commitments.person, commitments.evidence] {
            writer.raw(part.bytes)
        }
        #expect(commitments.digest == Digest.of(writer.bytes))
    }
}
