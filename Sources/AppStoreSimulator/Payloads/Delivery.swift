package import Events

/// One payload as it arrives at a ledger.
package struct Delivery: Hashable, Sendable {
    /// The channel of a payload.
    package enum Channel: String, Hashable, Sendable {
        /// The body of a POST of App Store Server Notifications V2.
        case notification
        /// A page of the App Store Server API's transaction history.
        case history
        /// The App Store Server API's answer about all subscription statuses.
        case statuses
        /// The answer of `verifyReceipt`; unsigned except for the receipt in it.
        case verifyReceipt = "verify-receipt"
        /// An app receipt as stored on the device: binary PKCS#7.
        case appReceipt = "app-receipt"
        /// The body of a POST of App Store Server Notifications V1; unsigned.
        case statusUpdate = "v1-notification"
    }

    /// The channel.
    package let channel: Channel
    /// The bytes.
    package let payload: [UInt8]
    /// The `signedDate` of everything in it: its as-of.
    ///
    /// If the format has no such date: when Apple answered with it, sent it or made it.
    package let signedAt: Instant

    /// A payload.
    package init(channel: Channel, payload: [UInt8], signedAt: Instant) {
        self.channel = channel
        self.payload = payload
        self.signedAt = signedAt
    }
}

extension Sequence<Delivery> {
    /// The deliveries in another order, some of them more than once.
    ///
    /// Nothing is lost: each delivery occurs at least once. Each copy is followed by another one
    /// with the given probability in percent, 0 to 90.
    package func disordered(seed: UInt64, repeatingPercent: Int64 = 25) -> [Delivery] {
        precondition((0...90).contains(repeatingPercent), "repeatingPercent must be 0 to 90")
        var generator = SeededGenerator(seed: seed)
        var result: [Delivery] = []
        for delivery in self {
            result.append(delivery)
            while generator.chance(percent: repeatingPercent) { result.append(delivery) }
        }
        return generator.shuffled(result)
    }
}
