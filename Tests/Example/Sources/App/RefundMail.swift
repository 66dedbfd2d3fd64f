import Subledger

/// Writes to each customer whose money Apple gave back, once.
struct RefundMail {
    let ledger: Ledger
    /// Sends a mail to a customer.
    ///
    /// After a crash it is called again for the same refund, with the same key, so that the service
    /// can leave out the second mail.
    let send: @Sendable (_ customer: String, _ key: String) async throws -> Void

    /// Waits for refunds until the task is cancelled; if it does not follow, up to the newest commit.
    func run(isFollowing: Bool = true) async throws {
        // Where the name begins, once: no mail about the past.
        let start = try await ledger.endOfEffects()
        let effects = ledger.effects(of: "refund-mail", startingAt: start, isFollowing: isFollowing)
        for try await effect in effects {
            if effect.kind == .refunded, !effect.change.isCorrection,
                effect.stream.environment == .production,
                let customer = effect.appAccountToken
            {
                try await send(customer, effect.id)
            }
            try await effects.acknowledge(effect)
        }
    }
}
