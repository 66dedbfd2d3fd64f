/// A question asked by GET, from which the routes are made.
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
}

/// A query parameter.
enum QueryParameter: String, Sendable {
    case at, knownAt, tz, environment, minPosition, product, group, trust, wait, from, to
}
