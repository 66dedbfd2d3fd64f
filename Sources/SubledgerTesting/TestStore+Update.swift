internal import AppStoreSimulator
internal import Events

extension TestStore {
    /// What Apple has to say about a subscription after a call, in every format.
    public struct Update: Sendable {
        private let life: SubscriptionLife
        private let instant: Instant

        /// The bodies of the notifications (version 2) that Apple posts, by signing date; empty if
        /// it announces nothing.
        public let notifications: [[UInt8]]

        init(life: SubscriptionLife, at instant: Instant, notifications: [[UInt8]]) {
            self.life = life
            self.instant = instant
            self.notifications = notifications
        }

        /// Apple's id of the subscription (`originalTransactionId`), for further calls.
        public var id: String { life.originalTransactionId }

        /// The signed transaction that changed last, as StoreKit gives it to the app
        /// (`jwsRepresentation`).
        public var transaction: [UInt8] {
            guard let newest = life.listed(asOf: instant).last else {
                preconditionFailure("the subscription \(id) has no transaction at \(instant)")
            }
            return life.signed(newest, at: instant)
        }

        /// The app's receipt on the device, in base64, as apps upload it.
        public var receipt: [UInt8] { life.appReceiptBase64(asOf: instant) }

        /// Apple's answer to verifyReceipt about that receipt.
        public var verifyReceiptAnswer: [UInt8] { life.verifyReceiptResponse(asOf: instant) }

        /// The pages of the App Store Server API's transaction history.
        public var history: [[UInt8]] { life.history(asOf: instant).map(\.payload) }

        /// The App Store Server API's answer about the status of the subscription.
        public var statuses: [UInt8] { life.statuses(asOf: instant).payload }
    }
}
