import Events
import Testing

@testable import Subledger

/// Which customers' sandbox purchases count, without a ledger.
struct SandboxPolicyTests {
    private static let start = Instant(milliseconds: 1_760_000_000_000)

    private func days(_ days: Double) -> Instant {
        Instant(milliseconds: Self.start.milliseconds + Int64(days * 86_400_000))
    }

    @Test func `without a policy sandbox purchases count for no customer`() {
        #expect(SandboxPolicy.never.rule(for: "anna", at: Self.start) == nil)
    }

    @Test func `sandbox purchases count for named customers, and for tokens in any letter case`()
        throws
    {
        let token = "7E3FB20B-4CDB-47CC-936D-99D65F608138"
        let policy = try SandboxPolicy(customers: ["anna", token])
        #expect(policy.rule(for: "anna", at: Self.start)?.customer == "anna")
        #expect(policy.rule(for: token.lowercased(), at: Self.start)?.customer == token)
        for other in ["Anna", "ann", ""] {
            #expect(policy.rule(for: other, at: Self.start) == nil, "\(other)")
        }
    }

    @Test func `sandbox purchases count from the first instant, and no longer at the end`() throws {
        for customers in [[], ["anna"]] {
            let policy = try SandboxPolicy(customers: customers, from: days(0), to: days(31))
            #expect(policy.rule(for: "anna", at: days(0)) != nil)
            #expect(policy.rule(for: "anna", at: days(30.9)) != nil)
            #expect(policy.rule(for: "anna", at: days(31)) == nil)
            #expect(policy.rule(for: "anna", at: days(-0.001)) == nil)
            #expect((policy.rule(for: "ben", at: days(1)) != nil) == customers.isEmpty)
        }
    }

    @Test func `for all customers both ends are required, and not far apart`() throws {
        let wrong: [(customers: [String], from: Instant?, to: Instant?)] = [
            ([], days(0), nil), ([], nil, days(1)), ([], days(0), days(31.001)),
            ([], days(1), days(1)), (["anna"], days(1), days(0)),
        ]
        for (customers, from, to) in wrong {
            let error = #expect(throws: PolicyError.self) {
                try SandboxPolicy(customers: customers, from: from, to: to)
            }
            #expect(error?.code == .sandboxWindow)
        }
        #expect(try SandboxPolicy(customers: ["anna"], from: days(0)) != .never)
        #expect(try SandboxPolicy(customers: []) == .never)
    }
}
