public import Events

/// One payload as it arrives at a ledger.
public struct Delivery: Hashable, Sendable {
    /// The way it takes.
    public enum Channel: String, Hashable, Sendable {
        /// The body of a POST of App Store Server Notifications V2.
        case notification
        /// A page of the App Store Server API's transaction history.
        case history
        /// The App Store Server API's answer about all subscription statuses.
        case statuses
        /// The answer of `verifyReceipt`; unsigned but for the receipt in it.
        case verifyReceipt = "verify-receipt"
        /// An app receipt as the app finds it on the device: PKCS#7, binary.
        case appReceipt = "app-receipt"
        /// The body of a POST of App Store Server Notifications V1; unsigned.
        case statusUpdate = "v1-notification"
    }

    /// The way it takes.
    public let channel: Channel
    /// The bytes.
    public let payload: [UInt8]
    /// The `signedDate` of everything in it: its as-of.
    ///
    /// Where the format has none, when Apple answered, sent or made it.
    public let signedAt: Instant

    /// A payload.
    public init(channel: Channel, payload: [UInt8], signedAt: Instant) {
        self.channel = channel
        self.payload = payload
        self.signedAt = signedAt
    }
}

extension Sequence<Delivery> {
    /// The deliveries in another order, a part of them more than once.
    ///
    /// Nothing is lost: each delivery comes at least once. After each copy another one follows with
    /// the given probability in percent, 0 to 90.
    public func disordered(seed: UInt64, repeatingPercent: Int64 = 25) -> [Delivery] {
        precondition((0...90).contains(repeatingPercent), "more would hardly end")
        var generator = SeededGenerator(seed: seed)
        var result: [Delivery] = []
        for delivery in self {
            result.append(delivery)
            while generator.chance(percent: repeatingPercent) { result.append(delivery) }
        }
        return generator.shuffled(result)
    }
}
