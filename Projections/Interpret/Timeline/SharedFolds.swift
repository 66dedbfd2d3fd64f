internal import Synchronization

/// What several projections need of one timeline, each folded once, when it is first asked for.
///
/// A timeline carries its own for as long as it lives, and a copy of it shares them. All are
/// functions of the timeline alone, so that it does not matter who asks first, on which thread, or
/// whether two ask at once and one result is dropped. What also depends on a decision of the
/// operator is kept with that decision, and folded anew where it is asked for under another one.
final class SharedFolds: Sendable {
    /// Nil until it is asked for.
    struct Kept {
        var cuts: [Cut?]?
        var graces: GracePeriods??
        var snapshots: [RenewalSnapshot]?
        var statements: [RenewalStatement]?
        var settings: [RenewalSetting]?
        var notifications: [ServerNotification]?
        var periods: [ActivePeriod]?
        var spans: [StatusSpan]?
        var continuity: Continuity?
        var states: [RenewalState]?
        var refunds: [RefundCase]?
        var changes: (catalogs: CatalogHistory, rows: [PlanChange])?
    }

    private let kept = Mutex(Kept())

    /// What was kept, or what `fold` makes, which is then kept.
    ///
    /// Nothing is locked while it folds: folds ask for each other.
    func value<Value: Sendable>(
        _ find: (borrowing Kept) -> Value?,
        _ keep: (inout Kept, Value) -> Void,
        _ fold: () -> Value
    ) -> Value {
        if let found = kept.withLock({ find($0) }) { return found }
        let made = fold()
        kept.withLock { keep(&$0, made) }
        return made
    }
}

extension Timeline {
    /// For each purchase, what takes its place: the next start, or a purchase of its own second.
    var cuts: [Cut?] {
        folds.value({ $0.cuts }, { $0.cuts = $1 }, { foldedCuts })
    }

    /// The grace that Apple told of; nil where it told of none.
    var graces: GracePeriods? {
        folds.value({ $0.graces }, { $0.graces = $1 }, { GracePeriods(self) })
    }

    /// What was known about the next renewal, at each as-of at which Apple said something.
    public var renewalSnapshots: [RenewalSnapshot] {
        folds.value({ $0.snapshots }, { $0.snapshots = $1 }, { foldedRenewalSnapshots })
    }

    /// What was known about the renewal, at each as-of at which Apple spoke of it.
    var renewalStatements: [RenewalStatement] {
        folds.value({ $0.statements }, { $0.statements = $1 }, { foldedRenewalStatements })
    }

    /// What the subscription is set to, by the instant from which it is.
    var renewalSettings: [RenewalSetting] {
        folds.value({ $0.settings }, { $0.settings = $1 }, { foldedRenewalSettings })
    }

    /// What Apple announced, by as-of, then by UUID and type.
    public var notifications: [ServerNotification] {
        folds.value({ $0.notifications }, { $0.notifications = $1 }, { foldedNotifications })
    }

    /// The statuses, one after the other.
    var statusSpans: [StatusSpan] {
        folds.value({ $0.spans }, { $0.spans = $1 }, { StatusSpans(withEveryStatus).spans })
    }

    /// Which purchases carry the subscription on.
    var continuity: Continuity {
        folds.value({ $0.continuity }, { $0.continuity = $1 }, { Continuity(self) })
    }
}
