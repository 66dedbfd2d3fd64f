public import Events

/// The subscriptions that name the person of an erased customer again.
public struct ReturnedDocument: Codable, Hashable, Sendable {
    /// One line for each erasure and subscription.
    public let returned: [Line]

    /// A subscription.
    public struct Line: Codable, Hashable, Sendable {
        /// Apple's id of the subscription.
        public let originalTransactionId: String
        /// Where the purchases were made.
        public let environment: Environment
        /// Its first event with an app account token that came after the erasure.
        public let position: Position
        /// Apple's id of the subscription that was erased.
        public let erased: String
        /// The event that erased it.
        public let erasure: Position
    }

    /// The document of these subscriptions.
    package init(_ returned: [ReturnedCustomer]) {
        self.returned = returned.map {
            Line(
                originalTransactionId: $0.stream.originalTransactionId,
                environment: $0.stream.environment,
                position: $0.position,
                erased: $0.erased.originalTransactionId,
                erasure: $0.erasure
            )
        }
    }
}
