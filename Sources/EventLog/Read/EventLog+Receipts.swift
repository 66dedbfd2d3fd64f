package import Events

extension EventLog {
    /// For each subscription, the digests of the receipts that its events and confirmations cite,
    /// sorted; without those that an erasure removed, or that came after one and were not stored.
    ///
    /// A receipt has the same digest in every channel and lane. An answer of the App Store Server
    /// API about a customer does not count as a receipt: it is split into pieces that each name an
    /// `appTransactionId`. A receipt is not cited if another payload with the same as-of and equal
    /// trust had stated the same. Because Apple dates receipts by the second, two receipts of one
    /// account would have to be made in the same second and contain different purchases to be
    /// distinguished.
    package func receipts(
        of histories: [StreamHistory]
    ) async throws(EventLogError) -> [[Digest]] {
        // Most subscriptions have none, and their events show that without a look-up.
        let asked = histories.filter {
            $0.events.contains(where: \.fact.content.format.isOfReceipt)
        }
        guard !asked.isEmpty else { return histories.map { _ in [] } }
        let kinds = PayloadKind.receipts.map(\.rawValue)
        let found = try await evidenceSummaries(of: asked).map { summaries in
            let receipts = summaries.values.filter { $0.isKept && kinds.contains($0.evidenceKind) }
            return Set(receipts.compactMap(\.digest))
                .sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
        }
        let receipts = Dictionary(zip(asked.map(\.stream), found)) { first, _ in first }
        return histories.map { receipts[$0.stream] ?? [] }
    }
}
