internal import AppStore
internal import Events

/// How an operator answers Apple's requests for consumption information: who consents, and what is
/// preferred.
///
/// Nothing has a default that sends anything: the policy must say where consent comes from.
package struct ConsumptionPolicy: Sendable {
    let consent: Consent
    let deliveryStatus: ConsumptionInformation.DeliveryStatus
    let isSampleProvided: Bool
    let oneTimePercentage: Int?
    let rules: [Rule]

    /// Where a customer's consent comes from.
    enum Consent: Sendable {
        /// The app's server is asked about each request.
        case callback(CallbackAddress)
        /// These customers consented, by the app's id or a token.
        case customers(Set<String>)
        /// Every customer did, by the terms of the app, as the operator states.
        case terms
    }

    /// The most bytes of a policy.
    package static let byteCountMax = 1 << 20
    /// The most rules.
    private static let rulesMax = 1000

    private enum ConsentWord: String, CaseIterable { case callback, customers, terms }

    /// Reads a policy: a JSON object.
    ///
    /// - Throws: `ConsumptionPolicyError` that names the wrong member and what is expected.
    package init(json: [UInt8]) throws(ConsumptionPolicyError) {
        let object = try StrictObject(
            json,
            members: [
                "consent", "callback", "consentingCustomers", "deliveryStatus",
                "sampleContentProvided", "consumptionPercentage", "rules",
            ]
        )
        consent = try ConsumptionPolicy.consent(object)
        deliveryStatus = try object.word("deliveryStatus") ?? .delivered
        isSampleProvided =
            try object.value("sampleContentProvided", "true or false", \.boolean) ?? false
        oneTimePercentage = try object.number(
            "consumptionPercentage",
            0...Int64(ConsumptionInformation.percentageMax)
        )
        let expected = "a list of at most \(ConsumptionPolicy.rulesMax) rules"
        let values = try object.value("rules", expected) { list in
            list.kind == .array && list.elements.count <= ConsumptionPolicy.rulesMax
                ? list.elements : nil
        }
        var rules: [Rule] = []
        for (index, value) in (values ?? []).enumerated() {
            if rules.last?.matchesEverything == true {
                throw ConsumptionPolicyError(
                    "rules[\(index)] is never used: rules[\(index - 1)] has no condition, and the "
                        + "first rule that matches decides; put it last"
                )
            }
            rules.append(try Rule(value, at: "rules[\(index)]"))
        }
        self.rules = rules
    }

    private static func consent(
        _ object: StrictObject
    ) throws(ConsumptionPolicyError) -> Consent {
        let word: ConsentWord? = try object.word("consent")
        guard let word else {
            throw ConsumptionPolicyError(
                "member consent is missing: nothing is sent to Apple without the customer's "
                    + "consent; expected callback (ask the app), customers (those of "
                    + "consentingCustomers) or terms (all consented by the app's terms)"
            )
        }
        let address = try object.value(
            "callback",
            "https://HOST/PATH, or http:// on 127.0.0.1"
        ) { $0.text.flatMap(CallbackAddress.init) }
        let customers = try object.texts("consentingCustomers")
        guard address == nil || word == .callback, customers == nil || word == .customers else {
            throw ConsumptionPolicyError(
                "member consent is \(word.rawValue), so "
                    + (address == nil || word == .callback ? "consentingCustomers" : "callback")
                    + " has no meaning; expected it only for consent "
                    + (address == nil || word == .callback ? "customers" : "callback")
            )
        }
        switch word {
        case .terms: return .terms
        case .callback:
            if let address { return .callback(address) }
            throw ConsumptionPolicyError(
                "member callback is missing: consent is callback; expected the address of the app"
            )
        case .customers:
            if let customers { return .customers(customers) }
            throw ConsumptionPolicyError(
                "member consentingCustomers is missing: consent is customers; expected their ids"
            )
        }
    }

    /// What the ledger would answer about a purchase, if the customer consents.
    func proposal(for facts: ConsumptionFacts) -> ConsumptionProposal {
        let percentage = facts.usedMilliPercent ?? oneTimePercentage
        return ConsumptionProposal(
            deliveryStatus: deliveryStatus,
            sampleContentProvided: facts.hadTrialOrIntroOffer || isSampleProvided,
            consumptionPercentage: percentage,
            refundPreference: rules.first { $0.matches(facts, percentage) }?.preference
        )
    }
}

extension ConsumptionPolicy {
    /// A preference for purchases of which all conditions hold.
    struct Rule: Sendable {
        let preference: ConsumptionInformation.RefundPreference?
        private let earlierRefunds: Bounds?
        private let accountDays: Bounds?
        private let usedPercent: Bounds?
        private let reasons: Set<String>?
        private let productIds: Set<String>?

        /// From `atLeast` on, and below `below`.
        private struct Bounds: Sendable {
            let atLeast: Int
            let below: Int

            func contains(_ number: Int?) -> Bool {
                number.map { atLeast <= $0 && $0 < below } ?? false
            }
        }

        /// What a rule may say: Apple's words, and none.
        private enum Word: String, CaseIterable {
            case decline = "DECLINE"
            case grantFull = "GRANT_FULL"
            case grantProrated = "GRANT_PRORATED"
            case none = "NONE"
        }

        fileprivate init(_ value: JSON.Value, at path: String) throws(ConsumptionPolicyError) {
            let rule = try StrictObject(value, at: path, members: ["when", "refundPreference"])
            let word: Word? = try rule.word("refundPreference")
            guard let word else {
                throw ConsumptionPolicyError(
                    "member \(path).refundPreference is missing; expected DECLINE, GRANT_FULL, "
                        + "GRANT_PRORATED or NONE"
                )
            }
            preference = ConsumptionInformation.RefundPreference(rawValue: word.rawValue)
            let when = try rule.object(
                "when",
                members: [
                    "earlierRefunds", "accountDays", "usedPercent", "consumptionRequestReasons",
                    "productIds",
                ]
            )
            earlierRefunds = try when.flatMap(Rule.bounds("earlierRefunds", 1_000_000))
            accountDays = try when.flatMap(Rule.bounds("accountDays", 1_000_000))
            usedPercent = try when.flatMap(Rule.bounds("usedPercent", 101))
            reasons = try when.flatMap(Rule.texts("consumptionRequestReasons"))
            productIds = try when.flatMap(Rule.texts("productIds"))
        }

        /// Whether it has no condition.
        fileprivate var matchesEverything: Bool {
            earlierRefunds == nil && accountDays == nil && usedPercent == nil && reasons == nil
                && productIds == nil
        }

        /// Whether all its conditions hold; one about something unknown does not.
        fileprivate func matches(_ facts: ConsumptionFacts, _ percentage: Int?) -> Bool {
            (earlierRefunds?.contains(facts.earlierRefunds) ?? true)
                && (accountDays?.contains(facts.accountDays) ?? true)
                && (usedPercent?.contains(percentage.map { $0 / 1000 }) ?? true)
                && (reasons?.contains(facts.consumptionRequestReason ?? "") ?? true)
                && (productIds?.contains(facts.productId) ?? true)
        }

        private static func texts(
            _ name: StaticString
        ) -> (StrictObject) throws(ConsumptionPolicyError) -> Set<String>? {
            { (when: StrictObject) throws(ConsumptionPolicyError) in try when.texts(name) }
        }

        private static func bounds(
            _ name: StaticString,
            _ most: Int64
        ) -> (StrictObject) throws(ConsumptionPolicyError) -> Bounds? {
            { (when: StrictObject) throws(ConsumptionPolicyError) in
                guard let range = try when.object(name, members: ["atLeast", "below"]) else {
                    return nil
                }
                let (least, below) = (
                    try range.number("atLeast", 0...most), try range.number("below", 1...most)
                )
                guard least != nil || below != nil, (least ?? 0) < (below ?? .max) else {
                    throw ConsumptionPolicyError(
                        "member \(when.place("\(name)")) can never hold; expected atLeast, below, "
                            + "or both with atLeast less than below"
                    )
                }
                return Bounds(atLeast: least ?? 0, below: below ?? .max)
            }
        }
    }
}

/// An answer to Apple, as far as it is known before the customer's consent; the members are Apple's.
package struct ConsumptionProposal: Encodable, Hashable, Sendable {
    let deliveryStatus: ConsumptionInformation.DeliveryStatus
    let sampleContentProvided: Bool
    let consumptionPercentage: Int?
    let refundPreference: ConsumptionInformation.RefundPreference?

    /// The information for Apple, of a customer who consented.
    var information: ConsumptionInformation? {
        ConsumptionInformation(
            deliveryStatus: deliveryStatus,
            isSampleProvided: sampleContentProvided,
            consumptionPercentage: consumptionPercentage,
            refundPreference: refundPreference
        )
    }
}

extension ConsumptionInformation.DeliveryStatus: Encodable {}
extension ConsumptionInformation.RefundPreference: Encodable {}
