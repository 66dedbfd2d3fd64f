internal import Subledger

/// A question asked by GET, from which the routes and their description are made.
enum Question: String, CaseIterable, Sendable {
    case access, eligibility, explain, periods, history, changes, refunds, state

    /// The subjects of questions.
    enum Subjects: String, CaseIterable, Sendable {
        /// All subscriptions and purchases of a customer.
        case customers
        /// A single subscription.
        case subscriptions

        /// The name of the path parameter with the id.
        var idName: String {
            switch self {
            case .customers: "id"
            case .subscriptions: "originalTransactionId"
            }
        }
    }

    /// The query parameters.
    var parameters: [QueryParameter] {
        let common: [QueryParameter] = [.at, .knownAt, .tz, .environment, .minPosition]
        return switch self {
        case .access, .eligibility: common + [.product, .group]
        case .explain: common + [.product]
        case .history: common + [.trust]
        case .periods, .changes, .refunds, .state: common
        }
    }

    /// A summary of the question.
    var summary: String {
        switch self {
        case .access: "Whether the customer has access, and to which products."
        case .eligibility:
            "Which offers the customer is eligible for, and which purchases rule out others."
        case .explain: "Why the customer did or did not have access, and what was answered then."
        case .periods: "When the subscription gave access, and why access ended."
        case .history: "Every event of the subscription."
        case .changes: "Every change of product or billing plan."
        case .refunds: "Every refund, and whether it was reversed."
        case .state: "The states of the subscription, and whether it was set to renew."
        }
    }

    /// The document with the answer, the same that the command prints with `--json`.
    var document: any Decodable.Type {
        switch self {
        case .access: AccessDocument.self
        case .eligibility: EligibilityDocument.self
        case .explain: ExplanationDocument.self
        case .periods: PeriodsDocument.self
        case .history: HistoryDocument.self
        case .changes: ChangesDocument.self
        case .refunds: RefundsDocument.self
        case .state: StateDocument.self
        }
    }
}

/// A query parameter.
enum QueryParameter: String, CaseIterable, Sendable {
    case at, knownAt, tz, environment, minPosition, product, group, trust, wait, from, to

    /// Its meaning.
    var text: String {
        switch self {
        case .at: "The time to answer for: \(AskedTime.forms). Default: now."
        case .knownAt: "Use only what the ledger knew then: \(AskedKnowledge.forms)."
        case .tz: "The time zone for output, and for times given without a zone. Default: UTC."
        case .environment:
            "The environment of the purchases: Production, Sandbox, Xcode or LocalTesting."
        case .minPosition: "Wait until the log contains this position, then answer."
        case .product: "Answer for this product only."
        case .group: "Answer for this subscription group only."
        case .trust: "Use only payloads with this trust; repeat for more."
        case .from: "The first day, in UTC. Default: that of the first purchase."
        case .to:
            "The last day, in UTC. Default: the last whole day before Apple's newest signature."
        case .wait: "Seconds to wait for Apple's answer, from 0 to 30. Default: 10."
        }
    }
}
