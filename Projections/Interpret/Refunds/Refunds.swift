public import Events

/// What was refunded, requested and declined, purchase by purchase, and its current state.
public struct Refunds: Sendable {
    /// The cases, by start of the purchase, then as they began.
    public let rows: [RefundCase]

    private static let kept = FoldMemo.Key<[RefundCase]>()

    /// The cases of a timeline, one-time purchases included.
    public init(_ timeline: Timeline) {
        rows = timeline.once(Refunds.kept) { Refunds.folded(timeline) }
    }

    private static func folded(_ timeline: Timeline) -> [RefundCase] {
        let notices = RefundNotices(timeline)
        let refunded = timeline.subjects.filter {
            timeline.purchase($0).wasEverRefunded || notices.isAbout($0)
        }
        guard !refunded.isEmpty else { return [] }
        let surroundings = RefundSurroundings(timeline.asAppleDid)
        let rows = refunded.flatMap { surroundings.cases(of: $0, notices.events(about: $0)) }
        // Stable: cases with the same start stay in the order of purchases, and of their beginning.
        return rows.enumerated().sorted { left, right in
            (left.element.purchaseDate, left.offset) < (right.element.purchaseDate, right.offset)
        }.map(\.element)
    }
}

extension Refunds {
    /// The announcements of refunds, requests and refusals whose purchase is not known; excluding
    /// those of refunds if one is stated.
    public static func unplaced(in timeline: Timeline) -> [Position] {
        let isStated = Refunds(timeline).rows.contains { $0.kind != nil }
        return RefundNotices(timeline).unplaced.filter { !isStated || !$0.isRefund }
            .map { Position(lane: timeline.lane, offset: $0.offset) }
    }
}

extension Timeline {
    /// Everything that can be refunded on its own: purchases, then additions of seats, then one-time
    /// purchases.
    var subjects: [RefundCase.Subject] {
        let additions = purchases.indices.flatMap { index in
            purchases[index].additions.indices.map { RefundCase.Subject.addition($0, of: index) }
        }
        return purchases.indices.map { .subscription($0) } + additions
            + oneTimePurchases.indices.map { .oneTime($0) }
    }

    /// The purchase of a case.
    func purchase(_ subject: RefundCase.Subject) -> Purchase {
        switch subject {
        case .subscription(let index): purchases[index]
        case .addition(let addition, let index): purchases[index].additions[addition]
        case .oneTime(let index): oneTimePurchases[index]
        }
    }

    // The transaction that an announcement is about, if seats were added in its second; nil if none
    // were. Of several it is the refunded one, as of two purchases.
    fileprivate func addition(of notice: ServerNotification) -> RefundCase.Subject? {
        guard let start = notice.purchaseDate else { return nil }
        for index in purchases.indices {
            let period = purchases[index]
            let own = period.additions.indices.filter { period.additions[$0].purchaseDate == start }
            guard !own.isEmpty else { continue }
            var candidates = own.map { RefundCase.Subject.addition($0, of: index) }
            if period.purchaseDate == start { candidates.insert(.subscription(index), at: 0) }
            let refunded = candidates.filter { purchase($0).wasEverRefunded }
            guard notice.isRefund || notice.isReversal, !refunded.isEmpty else {
                return candidates[0]
            }
            let distances = refunded.map { purchase($0).distanceOfDenial(from: notice.asOf) }
            return zip(refunded, distances).min { $0.1 < $1.1 }?.0
        }
        return nil
    }
}

/// The announcements that are about refunds, by purchase.
private struct RefundNotices {
    private var announced: [(subject: RefundCase.Subject, event: RefundMachine.Event)] = []
    /// Announcements whose purchase is not known.
    private(set) var unplaced: [(offset: Int64, isRefund: Bool)] = []

    init(_ timeline: Timeline) {
        // The common case, at the cost of one look at each announcement.
        let announcements = timeline.announcements
        let isAnnounced = announcements.indices.contains { index in
            let content = announcements[index].assertion.content
            return RefundNotices.types.contains { content.carries(.notificationType, $0) }
        }
        guard isAnnounced else { return }

        let isRevoked = timeline.subjects.contains { timeline.purchase($0).wasEverRevoked }
        for notice in timeline.notifications {
            guard let word = RefundNotices.word(notice) else { continue }
            // Version 1 names no purchase, so a stated refund is taken to be the announced one.
            if notice.isRefund, notice.notificationUUID.isEmpty, isRevoked { continue }
            let event = RefundMachine.Event(asOf: notice.asOf, word: word, offset: notice.offset)
            let oneTime = timeline.oneTimePurchases.lastIndex { purchase in
                purchase.purchaseDate == notice.purchaseDate
                    || purchase.restoreDates.contains { $0 == notice.purchaseDate }
            }
            if notice.expiresDate == nil, let oneTime {
                announced.append((.oneTime(oneTime), event))
            } else if let subject = timeline.addition(of: notice) {
                announced.append((subject, event))
            } else if let index = timeline.purchase(of: notice) {
                let isOfRefunded = notice.isRefund || notice.isReversal
                let refunded = isOfRefunded ? timeline.refundedTwin(of: index, notice) : nil
                announced.append((.subscription(refunded ?? index), event))
            } else {
                unplaced.append((notice.offset, notice.isRefund))
            }
        }
    }

    func isAbout(_ subject: RefundCase.Subject) -> Bool {
        announced.contains { $0.subject == subject }
    }

    func events(about subject: RefundCase.Subject) -> [RefundMachine.Event] {
        announced.filter { $0.subject == subject }.map(\.event)
    }

    private static let words: KeyValuePairs<String, RefundMachine.Word> = [
        "CONSUMPTION_REQUEST": .request,
        "REFUND": .refundNotice(ofSeats: false),
        "REFUND_DECLINED": .refusal,
        "REFUND_REVERSED": .reversalNotice,
    ]

    private static let types = words.map(\.key)

    private static func word(_ notice: ServerNotification) -> RefundMachine.Word? {
        if notice.isRefundOfSeats {
            return .refundNotice(ofSeats: true)
        }
        return words.first { byBytes($0.key, notice.notificationType) == nil }?.value
    }
}

extension ServerNotification {
    fileprivate var isRefund: Bool { notificationType == "REFUND" }
    fileprivate var isReversal: Bool { notificationType == "REFUND_REVERSED" }

    fileprivate var isRefundOfSeats: Bool {
        isRefund && byBytes(subtype, Seats.Word.refundOfSeats) == nil
    }
}

extension Timeline {
    // A renewal and the change of plan in its second may start and end at the same time, or have
    // done so until one was extended, and a notification contains no more than that (Apple's data:
    // trap 40). Only a refunded purchase can be reversed, and a purchase stated as refunded is the
    // announced one; of two such, it is the one stated at about that time to be no longer refunded.
    // A refund of seats is only about a purchase that was stated with seats taken back.
    fileprivate func refundedTwin(of index: Int, _ notice: ServerNotification) -> Int? {
        func isMeant(_ purchase: Purchase) -> Bool {
            if notice.isRefundOfSeats { return purchase.wasASeatRefunded }
            return notice.isReversal ? purchase.wasEverRefunded : purchase.wasEverRevoked
        }
        let refunded = purchases[startingAt: purchases[index].purchaseDate].indices.filter {
            (purchases[$0].expiresDate == purchases[index].expiresDate
                || purchases[$0].everExpired(on: notice.expiresDate))
                && isMeant(purchases[$0])
        }
        guard refunded.count > 1 else { return refunded.first }
        let distances = refunded.map { purchases[$0].distanceOfDenial(from: notice.asOf) }
        return zip(refunded, distances).min { $0.1 < $1.1 }?.0
    }
}

extension Purchase {
    /// Whether any statement, even if later ones differ, had it revoked, or an item or a seat of it
    /// refunded.
    fileprivate var wasEverRefunded: Bool {
        wasEverRevoked || wasAnItemRefunded || wasASeatRefunded
    }

    // Milliseconds to the nearest statement by which it is no longer revoked.
    fileprivate func distanceOfDenial(from instant: Instant) -> Int64 {
        var wasRevoked = false
        var nearest = Int64.max
        for event in revocationEvents {
            if case .denial = event.word {
                let distance = abs(event.asOf.milliseconds - instant.milliseconds)
                if wasRevoked { nearest = min(nearest, distance) }
                wasRevoked = false
            } else {
                wasRevoked = true
            }
        }
        return nearest
    }
}

/// What cases need to know about the rest of their stream.
private struct RefundSurroundings {
    let timeline: Timeline
    let cuts: [Cut?]
    let periods: [ActivePeriod]

    init(_ timeline: Timeline) {
        self.timeline = timeline
        cuts = timeline.cuts
        periods = ActivePeriods(timeline).rows
    }

    func cases(
        of subject: RefundCase.Subject,
        _ notices: [RefundMachine.Event]
    ) -> [RefundCase] {
        let purchase = timeline.purchase(subject)
        return cases(of: purchase, subject, notices) { revoked, type in
            switch subject {
            case .oneTime:
                return (.untyped, revoked < purchase.purchaseDate ? .beforeStart : .current)
            case .subscription(let index), .addition(_, let index):
                let cut = cuts[index]
                let isReplaced =
                    cut?.isReplacement(of: purchase, revokedAt: revoked, type: type) ?? false
                return (isReplaced ? .replaced : .untyped, timing(of: revoked, purchase, cut))
            }
        }
    }

    // `periods` take the revocation into account; the time of the refund is compared with the
    // access without it.
    private func timing(
        of revoked: Instant,
        _ purchase: Purchase,
        _ cut: Cut?
    ) -> RefundCase.Timing {
        if revoked < purchase.purchaseDate { return .beforeStart }
        let mark = purchase.isUpgraded ? purchase.firstUpgradeMark?.asOf : nil
        let end = cut?.at ?? min(mark ?? purchase.expiresDate, purchase.expiresDate)
        if revoked < end { return .current }
        let isInOwnGrace = periods.contains { row in
            row.kind == .grace && row.purchaseDate == purchase.purchaseDate
                && row.expiresDate == purchase.expiresDate
                && byBytes(row.productId, purchase.productId) == nil
                && row.validFrom <= revoked
                && (revoked < row.validTo || revoked == row.validTo && row.isTakenBack)
        }
        if isInOwnGrace { return .current }
        let isHeld = periods.contains { $0.validFrom <= revoked && revoked < $0.validTo }
        return isHeld ? .older : .afterExpiry
    }

    private func cases(
        of purchase: Purchase,
        _ subject: RefundCase.Subject,
        _ notices: [RefundMachine.Event],
        place: (Instant, String?) -> (kind: RefundCase.Kind, timing: RefundCase.Timing)
    ) -> [RefundCase] {
        let drafts = RefundMachine(
            notices + purchase.revocationEvents + purchase.itemRefundEvents
                + purchase.seatRefundEvents + purchase.denials(of: notices)
        ).drafts

        return drafts.map { draft in
            var citations = draft.citations
            let price = purchase.amount(citing: &citations)
            let currency = purchase.text(.currency, citing: &citations)
            let revoked = draft.revocation.date ?? draft.items?.date
            let placed = revoked.map { place($0, draft.revocation.type) }
            let kind = kind(of: draft, purchase, placed?.kind, citing: &citations)
            let given = kind.flatMap { draft.givenMilliunits($0, of: price, purchase.seats) }
            let isMoney = kind?.isWithoutMoney != true && purchase.sharing == nil

            return RefundCase(
                stream: timeline.stream,
                productId: purchase.productId,
                purchaseDate: purchase.purchaseDate,
                expiresDate: subject.isOneTime ? nil : purchase.expiresDate,
                kind: kind,
                percentageMilli: draft.revocation.percentage,
                seatQuantity: draft.seats,
                reason: draft.revocation.reason,
                timing: placed?.timing,
                requested: draft.requested,
                requestReason: draft.requested.flatMap { timeline.requestReason(at: $0, purchase) },
                declined: draft.declined,
                revoked: revoked,
                announced: draft.announced,
                reversed: draft.reversed,
                reversal: draft.reversal,
                state: draft.state == .refunded && !isMoney ? .revoked : draft.state,
                isNet: false,
                priceMilliunits: price,
                givenMilliunits: given,
                refundedMilliunits: draft.state == .reversed && isMoney ? 0 : given,
                currency: currency,
                positions: citations.positions(lane: timeline.lane),
                subject: subject
            )
        }.withNetMarked
    }

    private func kind(
        of draft: RefundMachine.Draft,
        _ purchase: Purchase,
        _ placed: RefundCase.Kind?,
        citing citations: inout Citations
    ) -> RefundCase.Kind? {
        guard draft.holdsRefund else { return nil }
        if draft.items != nil, draft.revocation.date == nil { return .items }
        if draft.seats != nil || draft.isAnnouncedForSeats { return .seats }
        if draft.revocation.reason == BundleMembership.Word.upgradedToBundle { return .bundled }
        let type = draft.revocation.type
        let ended =
            purchase.sharing(citing: &citations) ?? type.flatMap(Sharing.init(revocationType:))
        if let ended { return placed == .replaced ? .replaced : ended.refundKind }
        switch type {
        case "REFUND_FULL": return .full
        case "REFUND_PRORATED": return .prorated
        default: return placed ?? .untyped
        }
    }
}

extension RefundMachine.Draft {
    /// Milli-percent of the whole price.
    private static let wholePercentage: Int64 = 100_000

    // The items and percentage that Apple states count, whatever type it gives the refund; without
    // either it was the whole price. Nil if price or part is not known.
    fileprivate func givenMilliunits(
        _ kind: RefundCase.Kind,
        of whole: Int64?,
        _ bought: Seats?
    ) -> Int64? {
        // What was refunded for seats before is not refunded again.
        let before = whole.flatMap { bought?.part(of: $0, for: seatsBefore) } ?? 0
        let price = whole.map { $0 - before }
        return switch kind {
        case .familyRevoke, .assignmentEnded, .bundled, .replaced: nil
        case .seats:
            seats.flatMap { seats in
                // The refunds of all seats add up to exactly the whole.
                whole.flatMap { bought?.part(of: $0, for: seatsBefore + seats) }.map { $0 - before }
            }
        case .full: price
        case .items: items?.milliunits
        case .prorated: items?.milliunits ?? percentageOf(price)
        case .untyped where isOnlyAnnounced: nil
        case .untyped where revocation.percentage != nil:
            items?.milliunits ?? percentageOf(price)
        case .untyped: items?.milliunits ?? price
        }
    }

    // Half a milliunit is rounded up.
    private func percentageOf(_ price: Int64?) -> Int64? {
        let whole = RefundMachine.Draft.wholePercentage
        guard let price, let percentage = revocation.percentage, (0...whole).contains(percentage)
        else { return nil }
        // In two parts, because a price times 100 000 may not fit into 64 bits.
        let (parts, rest) = price.quotientAndRemainder(dividingBy: whole)
        return parts * percentage + (rest * percentage + whole / 2) / whole
    }
}

extension RefundCase.Subject {
    fileprivate var isOneTime: Bool {
        if case .oneTime = self { true } else { false }
    }
}
