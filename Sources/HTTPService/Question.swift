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
        case .access: "Whether there is access, and to what."
        case .eligibility: "Which offers a customer may get, and which purchase prevents others."
        case .explain: "Why there was access or not, and what was answered then."
        case .periods: "When there was access, and why it stopped."
        case .history: "Every event."
        case .changes: "Every change of plan."
        case .refunds: "Every refund and its reversal."
        case .state: "The states of the subscription."
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
    case at, knownAt, tz, environment, minPosition, product, group, trust, wait

    /// Its meaning.
    var text: String {
        switch self {
        case .at: "The instant asked about: \(AskedTime.forms)."
        case .knownAt: "Use only what the ledger knew then: \(AskedKnowledge.forms)."
        case .tz: "The time zone for output, and for times given without a zone. Default: UTC."
        case .environment: "Production, Sandbox, Xcode or LocalTesting."
        case .minPosition: "Answer only when the log contains this position."
        case .product: "Only this product."
        case .group: "Only this subscription group."
        case .trust: "Use only payloads with this trust; repeat for more."
        case .wait: "Seconds to wait for Apple's answer, from 0 to 30. Default: 10."
        }
    }
}
