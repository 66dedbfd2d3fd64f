package import Events

extension EventLog {
    /// For each subscription the digests of the receipts that its events and confirmations cite,
    /// sorted; not of those that an erasure took, nor of those that came after one and were not kept.
    ///
    /// The digest of a receipt is the same by whichever channel and in whichever lane it came. What
    /// the App Store Server API answers about a customer is no receipt: it is taken apart into
    /// pieces that each name an `appTransactionId`. A receipt is not cited where another payload of
    /// the same as-of had said the same with equal trust; Apple dates receipts by the second, so
    /// that two of one account would have to be made in one second and hold different purchases to
    /// be told apart.
    package func receipts(
        of histories: [StreamHistory]
    ) async throws(EventLogError) -> [[Digest]] {
        let receiptKinds: [PayloadKind] = [
            .appReceipt, .verifyReceiptResponse, .statusUpdateNotification,
        ]
        let kinds = receiptKinds.map(\.rawValue)
        return try await evidenceSummaries(of: histories).map { summaries in
            let receipts = summaries.values.filter { $0.isKept && kinds.contains($0.evidenceKind) }
            return Set(receipts.compactMap(\.digest))
                .sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
        }
    }
}
