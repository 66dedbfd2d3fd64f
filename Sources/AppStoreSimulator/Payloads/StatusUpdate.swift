internal import Events

/// One V1 notification: its type, and what it is about (Apple's data: version 1 types).
struct StatusUpdate {
    /// Apple's `notification_type`.
    let type: String
    /// The number of the period it is about; for a refunded one-time purchase, the newest period.
    let purchase: Int?
    /// Whether the body lists no transaction, as seen with CONSUMPTION_REQUEST.
    var isEmpty: Bool { type == "CONSUMPTION_REQUEST" }

    // Family members receive all except these; the sandbox sends only those in `inSandbox`.
    private static let notForMembers: Set<String> = [
        "CANCEL", "INITIAL_BUY", "PRICE_INCREASE_CONSENT", "REFUND",
    ]
    private static let inSandbox: Set<String> = [
        "INITIAL_BUY", "DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_STATUS", "DID_RENEW",
        "INTERACTIVE_RENEWAL", "CANCEL", "REFUND",
    ]

    /// Whether Apple sends this type to such customers.
    func isSent(toMember: Bool, inSandbox: Bool) -> Bool {
        !(toMember && Self.notForMembers.contains(type))
            && (!inSandbox || Self.inSandbox.contains(type))
    }

    /// What Apple sends about a step, in order.
    ///
    /// The table is that of Apple's data: version 1 types. V1 has no type for the end of grace, an
    /// extension, a reversed or declined refund of a subscription, a redeemed offer, a one-time
    /// charge or a number of seats; if such a step also moves the renewal switch,
    /// DID_CHANGE_RENEWAL_STATUS reports that.
    static func updates(
        about step: LifeStep,
        before: LifeState,
        after: LifeState,
        style: ReceiptStyle
    ) -> [StatusUpdate] {
        let isLegacy = style.contains(.legacyNotification)
        let newest = after.purchases.indices.last
        let replaced = newest.map { $0 - 1 }
        let status = StatusUpdate(type: "DID_CHANGE_RENEWAL_STATUS", purchase: newest)
        let isToggled = before.isAutoRenewOn != after.isAutoRenewOn
        func one(_ type: String, _ purchase: Int? = nil) -> [StatusUpdate] {
            [StatusUpdate(type: type, purchase: purchase ?? newest)]
                + (isToggled ? [status] : [])
        }

        switch step {
        case .subscribe(let product, _, _), .buySeats(let product, _, _):
            guard let last = before.newest else {
                return [StatusUpdate(type: "INITIAL_BUY", purchase: newest)]
            }
            // For the same product after a lapse, only the renewal switch is reported.
            return last.product == product ? [status] : one("INTERACTIVE_RENEWAL")
        case .changeNow:
            let cancel = StatusUpdate(type: "CANCEL", purchase: replaced)
            return (isLegacy ? [cancel] : [])
                + [status, StatusUpdate(type: "INTERACTIVE_RENEWAL", purchase: newest)]
        case .renew: return one("DID_RENEW")
        case .failToRenew: return one("DID_FAIL_TO_RENEW")
        case .recover: return one(isLegacy ? "RENEWAL" : "DID_RECOVER")
        case .changeAtRenewal: return one("DID_CHANGE_RENEWAL_PREF")
        case .refund(let number, _, _), .refundSeats(.purchase(let number), nil, _):
            return one("CANCEL", number)
        case .stopSharing, .moveToBundle: return one("REVOKE")
        case .announcePriceIncrease: return one("PRICE_INCREASE_CONSENT")
        case .refundOneTime:
            return [
                StatusUpdate(type: "CONSUMPTION_REQUEST", purchase: newest),
                StatusUpdate(type: "REFUND", purchase: newest),
            ]
        case .giveUp, .expire, .turnAutoRenewOff, .turnAutoRenewOn, .requestRefund,
            .reverseRefund, .setAppAccountToken, .endGrace, .redeem, .declineRefund, .extend,
            .acceptPriceIncrease, .restore, .buyConsumable, .buyOnce, .addSeats,
            .changeSeatsAtRenewal, .refundSeats, .unclaimSeats, .leaveBundle:
            return isToggled ? [status] : []
        }
    }
}
