/// How the views of a timeline decide what gives access where Apple leaves it to the app.
///
/// A policy changes access and what follows from it (`active_periods`, the end of access in
/// `transactions`, the times without it in `renewal_states`, explanations), never what Apple did:
/// refunds, changes of plan, movements and money are the same under every policy.
public struct AccessPolicy: Hashable, Sendable {
    /// Whether billing grace gives access (Apple's data: trap 20); billing retry never does,
    /// because Apple treats the subscription as ended (Apple's data: trap 19).
    public let graceCounts: Bool
    /// Whether family-shared purchases give access (Apple's data: trap 33).
    public let familyCounts: Bool
    /// Whether a reversed refund restores access from the refund on, as if there had been no refund
    /// (Apple's data: trap 30); otherwise only from Apple's first statement of the reversal.
    public let reversalIsRetroactive: Bool
    /// Whether a refunded purchase never gave access, as if it had never been bought, whenever
    /// Apple revoked it; otherwise it gave access until the refund (Apple's data: trap 10).
    ///
    /// Neither the end of family sharing nor the rest of a replaced period is such a refund.
    public let refundIsRetroactive: Bool
    /// Incremented whenever a property changes its meaning, or `current` its value.
    public let version = 1

    /// The default policy: what Apple does itself.
    public static let current = AccessPolicy(
        graceCounts: true,
        familyCounts: true,
        reversalIsRetroactive: true,
        refundIsRetroactive: false
    )

    /// A policy.
    public init(
        graceCounts: Bool,
        familyCounts: Bool,
        reversalIsRetroactive: Bool,
        refundIsRetroactive: Bool = false
    ) {
        self.graceCounts = graceCounts
        self.familyCounts = familyCounts
        self.reversalIsRetroactive = reversalIsRetroactive
        self.refundIsRetroactive = refundIsRetroactive
    }
}

extension Timeline {
    /// The same timeline under another policy; at no cost if it is the same policy.
    public func under(_ policy: AccessPolicy) -> Timeline {
        guard policy != self.policy else { return self }
        var timeline = self
        timeline.policy = policy
        timeline.memo = FoldMemo()
        return timeline
    }

    /// For views of what Apple did, which no policy of an app changes.
    var asAppleDid: Timeline { under(.current) }

    /// For the status according to Apple: grace and family sharing are part of it, whatever access
    /// an app grants for them.
    var withEveryStatus: Timeline {
        under(
            AccessPolicy(
                graceCounts: true,
                familyCounts: true,
                reversalIsRetroactive: policy.reversalIsRetroactive,
                refundIsRetroactive: policy.refundIsRetroactive
            )
        )
    }
}
