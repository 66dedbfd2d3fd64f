public import Events
internal import Foundation

/// The customers for whom sandbox purchases count in production: App Review buys there.
///
/// By default they count for no customer. The policy does not mix environments: if production
/// answers "no access", the same question is put to the sandbox, and the answer names the rule.
public struct SandboxPolicy: Hashable, Sendable {
    /// The ids by which the app asks; empty for every customer.
    public let customers: [String]
    /// The first instant at which sandbox purchases count; nil if unbounded.
    public let from: Instant?
    /// The end of that time, exclusive; nil if unbounded.
    public let to: Instant?

    /// The longest time, in days, for which the purchases of every customer may count: a review
    /// takes days, and every holder of a test account gets access in the meantime.
    public static let openDaysMax: Int64 = 31

    /// Purchases of the sandbox never count.
    public static let never = SandboxPolicy()

    private init() { (customers, from, to) = ([], nil, nil) }

    /// Creates a policy; it equals ``never`` if nothing is named.
    ///
    /// - Parameters:
    ///   - customers: The ids by which the app asks; empty for every customer.
    ///   - from: The first instant at which they count.
    ///   - to: The end of that time, exclusive.
    /// - Throws: `sandboxWindow` if the end is not after the beginning; also, for every customer,
    ///   if either is missing or they are more than `openDaysMax` apart.
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

    /// The rule by which the purchases of a customer count at an instant; nil if they do not.
    func rule(for id: String, at instant: Instant) -> SandboxRule? {
        guard self != .never, from.map({ $0 <= instant }) ?? true,
            to.map({ instant < $0 }) ?? true
        else { return nil }
        let customer = customers.first { SandboxPolicy.areSame($0, id) }
        guard customers.isEmpty || customer != nil else { return nil }
        return SandboxRule(customer: customer, from: from, to: to)
    }

    // App account tokens are UUIDs, which are compared without regard to letter case.
    private static func areSame(_ left: String, _ right: String) -> Bool {
        guard let one = UUID(uuidString: left), let other = UUID(uuidString: right) else {
            return left.utf8.elementsEqual(right.utf8)
        }
        return one == other
    }
}

/// Why a purchase of the sandbox gave access in production.
public struct SandboxRule: Codable, Hashable, Sendable {
    /// The customer that the rule names; nil if the purchases of every customer count.
    public let customer: String?
    /// The first instant at which they count; nil if unbounded.
    public let from: Instant?
    /// The end of that time, exclusive; nil if unbounded.
    public let to: Instant?

    /// The rule as text, without a full stop.
    package var text: String {
        let subject = customer.map { "of \($0)" } ?? "of every customer"
        let times = [from.map { "from \($0.clock)" }, to.map { "until \($0.clock)" }]
        return
            (["by the sandbox policy, purchases \(subject) in the sandbox count"]
            + times.compactMap { $0 }).joined(separator: " ")
    }
}

extension Ledger {
    /// Asks production and, if that gives no access and the policy allows it, the sandbox.
    ///
    /// - Parameters:
    ///   - question: The question.
    ///   - subject: The customer.
    ///   - policy: The customers for whom sandbox purchases count.
    /// - Returns: The answer of production, unless only the sandbox gives access.
    /// - Throws: What the question about production throws.
    func answer(
        _ question: AccessInput,
        of subject: SubjectID,
        counting policy: SandboxPolicy
    ) async throws -> AccessDocument {
        let production = try await answer(question, of: subject)
        guard !production.access, (subject.environment ?? .production) == .production,
            let rule = policy.rule(for: subject.id, at: question.instant)
        else { return production }
        var tested = subject
        tested.environment = .sandbox
        var answer = try await answer(question, of: tested)
        answer.sandboxRule = rule
        return answer.access ? answer : production
    }
}
