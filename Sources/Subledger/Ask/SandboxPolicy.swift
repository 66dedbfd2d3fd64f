public import Events
internal import Foundation

/// For whom purchases of the sandbox count in production: App Review buys there.
///
/// Without one they count for no customer. Environments are not mixed by it: a question about
/// production that production answers with "no access" is asked of the sandbox, and the answer
/// names the rule.
public struct SandboxPolicy: Hashable, Sendable {
    /// The ids that the app asks with; empty for every customer.
    public let customers: [String]
    /// The first instant at which they count; nil for no beginning.
    public let from: Instant?
    /// The end of that, which is not part of it; nil for no end.
    public let to: Instant?

    /// Longest time in which the purchases of every customer may count: a review takes days, and
    /// whoever has a test account gets access meanwhile.
    public static let openDaysMax: Int64 = 31

    /// Purchases of the sandbox never count.
    public static let never = SandboxPolicy()

    private init() { (customers, from, to) = ([], nil, nil) }

    /// A policy; the one of ``never`` where nothing is named.
    ///
    /// - Parameters:
    ///   - customers: The ids that the app asks with; empty for every customer.
    ///   - from: The first instant at which they count.
    ///   - to: The end of that.
    /// - Throws: `sandboxWindow` for an end that is not after the beginning, and for every customer
    ///   where not both are named or they are more than `openDaysMax` apart.
    public init(
        customers: [String],
        from: Instant? = nil,
        to: Instant? = nil
    ) throws(PolicyError) {
        if let from, let to, from >= to {
            throw PolicyError(
                .sandboxWindow,
                "sandbox purchases would count from \(from) to \(to); expected an end after the "
                    + "beginning"
            )
        }
        let isOpen = customers.isEmpty && (from != nil || to != nil)
        let days = Double((to?.milliseconds ?? 0) - (from?.milliseconds ?? 0)) / 86_400_000
        if isOpen, from == nil || to == nil || days > Double(SandboxPolicy.openDaysMax) {
            throw PolicyError(
                .sandboxWindow,
                "sandbox purchases of every customer count only between two instants that are at "
                    + "most \(SandboxPolicy.openDaysMax) days apart; name both, or the customers"
            )
        }
        (self.customers, self.from, self.to) = (customers, from, to)
    }

    /// The rule by which the purchases of a customer count at an instant; nil where they do not.
    func rule(for id: String, at instant: Instant) -> SandboxRule? {
        guard self != .never, from.map({ $0 <= instant }) ?? true,
            to.map({ instant < $0 }) ?? true
        else { return nil }
        let customer = customers.first { SandboxPolicy.areSame($0, id) }
        guard customers.isEmpty || customer != nil else { return nil }
        return SandboxRule(customer: customer, from: from, to: to)
    }

    // A token of the app is one whatever the case of its digits.
    private static func areSame(_ left: String, _ right: String) -> Bool {
        guard let one = UUID(uuidString: left), let other = UUID(uuidString: right) else {
            return left.utf8.elementsEqual(right.utf8)
        }
        return one == other
    }
}

/// Why a purchase of the sandbox gave access in production.
public struct SandboxRule: Codable, Hashable, Sendable {
    /// The customer who is named; nil where the purchases of every customer count.
    public let customer: String?
    /// The first instant at which they count; nil for no beginning.
    public let from: Instant?
    /// The end of that, which is not part of it; nil for no end.
    public let to: Instant?

    /// The rule for people, without a full stop.
    package var text: String {
        let subject = customer.map { "of \($0)" } ?? "of every customer"
        let times = [from.map { "from \($0.clock)" }, to.map { "until \($0.clock)" }]
        return
            (["by the sandbox policy, purchases \(subject) in the sandbox count"]
            + times.compactMap { $0 }).joined(separator: " ")
    }
}

extension Ledger {
    /// Asks production, and where that gives no access the sandbox, if the policy says so.
    ///
    /// - Parameters:
    ///   - question: What is asked.
    ///   - subject: The customer.
    ///   - policy: For whom purchases of the sandbox count.
    /// - Returns: The answer of production, unless only the sandbox gives access.
    /// - Throws: What the question about production throws.
    func answer(
        _ question: AccessQuestion,
        of subject: SubjectID,
        counting policy: SandboxPolicy
    ) async throws -> AccessDocument {
        guard (subject.environment ?? .production) == .production,
            let rule = policy.rule(for: subject.id, at: question.instant)
        else { return try await answer(question, of: subject) }
        let production: Result<AccessDocument, QuestionError>
        do {
            production = .success(try await answer(question, of: subject))
        } catch let error as QuestionError where error.code.meansNoPurchase {
            production = .failure(error)
        }
        if case .success(let answer) = production, answer.access { return answer }
        return try await sandboxAnswer(question, of: subject, by: rule) ?? production.get()
    }

    // The answer of the sandbox; nil where it gives no access.
    private func sandboxAnswer(
        _ question: AccessQuestion,
        of subject: SubjectID,
        by rule: SandboxRule
    ) async throws -> AccessDocument? {
        var tested = subject
        tested.environment = .sandbox
        do {
            var answer = try await answer(question, of: tested)
            answer.sandboxRule = rule
            return answer.access ? answer : nil
        } catch let error as QuestionError where error.code.meansNoPurchase {
            return nil
        }
    }
}

extension QuestionError.Code {
    /// Whether the customer has bought nothing in the environment, as far as is known.
    fileprivate var meansNoPurchase: Bool {
        self == .otherEnvironment || self == .nothingKnownThen
    }
}
