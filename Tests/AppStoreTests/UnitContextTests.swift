import Events
import Testing

@testable import AppStore

/// Unsigned words that were used: they are stored with the unit, and so is the reason to trust
/// them.
struct UnitContextTests {
    private let samples: UnitSamples
    private let verifier: AppStoreVerifier

    init() throws {
        samples = try UnitSamples()
        verifier = try samples.verifier()
    }

    /// Every kind of page, with statements that do not name an environment.
    private func oldPages() throws -> [String] {
        let ids = ["7", "8"]
        let notes = UnitSamples.notificationHistory(
            try ids.map { try samples.notification($0, environment: nil) }
        )
        return [
            UnitSamples.history(try ids.map { try samples.transaction($0, environment: nil) }),
            UnitSamples.statuses(try ids.map { try samples.status($0, environment: nil) }),
            "{\"environment\":\"Sandbox\"," + notes.dropFirst(),
        ]
    }

    private func expect(
        _ context: EvidenceContext?,
        of groups: [Verified<[Fact]>],
        in environment: StoreEnvironment
    ) {
        #expect(!groups.isEmpty)
        for group in groups {
            #expect(group.evidence.context == context)
            #expect(group.value.allSatisfy { $0.stream.environment == environment })
        }
    }

    @Test(
        arguments: [
            (Voucher.unvouched, EvidenceContext.Trust.unproven), (.client, .fetched),
            (.operator, .vouched),
        ]
    )
    func `a page that demotes to Sandbox records that word with each unit`(
        voucher: Voucher,
        trust: EvidenceContext.Trust
    ) throws {
        for page in try oldPages() {
            let groups = try verifier.groups(page, voucher: voucher)
            #expect(groups.count == 2)
            expect(EvidenceContext(environment: .sandbox, trust: trust), of: groups, in: .sandbox)
            try verifier.expectProven(groups)
            for group in groups {
                #expect(verifier.refusal(group.evidence.payload) == .environmentUnknown)
            }
        }
    }

    @Test func `the page's environment overrides the assumed one`() throws {
        let assuming = try samples.verifier(assuming: .production)
        for page in try oldPages() {
            let groups = try assuming.groups(page)
            expect(
                EvidenceContext(environment: .sandbox, trust: .unproven),
                of: groups,
                in: .sandbox
            )
            try assuming.expectProven(groups)
        }
    }

    @Test func `an assumed environment is stored with the unit as vouched for`() throws {
        let assuming = try samples.verifier(assuming: .production)
        let context = EvidenceContext(environment: .production, trust: .vouched)
        for page in try oldPages() {
            let silent = page.replacing("\"environment\":\"Sandbox\",", with: "")
            let groups = try assuming.groups(silent)
            expect(context, of: groups, in: .production)
            try assuming.expectProven(groups)
        }
        let jws = try samples.transaction("7", environment: nil)
        expect(context, of: try assuming.groups(jws), in: .production)
        let named = try samples.transaction("7")
        expect(nil, of: try assuming.groups(named), in: .sandbox)
    }

    @Test func `an app receipt without a type takes the assumed environment as its context`() throws
    {
        let assuming = try samples.verifier(assuming: .production)
        let context = EvidenceContext(environment: .production, trust: .vouched)
        let receipt = try samples.receipt(type: "")
        let groups = try assuming.verify(payload: receipt, source: "test", receivedAt: receivedAt)
            .groups
        expect(context, of: groups, in: .production)
        try assuming.expectProven(groups)
        // The body names its environment, but its rows are compared with the receipt in it.
        let body = UnitSamples.response(receipt, environment: "Production")
        let both = try assuming.groups(body, voucher: .operator)
        #expect(both.count == 2)
        expect(context, of: both, in: .production)
        try assuming.expectProven(both, voucher: .operator)
    }

    @Test func `an unsigned body without an environment keeps the assumed one`() throws {
        let body = "{\"status\":0,\"receipt\":\(VouchedResponses.single)}"
        let assuming = try samples.verifier(assuming: .sandbox)
        let groups = try assuming.groups(body, voucher: .operator)
        expect(EvidenceContext(environment: .sandbox, trust: .vouched), of: groups, in: .sandbox)
        try assuming.expectProven(groups, voucher: .operator)
        #expect(throws: Rejection(.environmentUnknown, "")) {
            try verifier.groups(body, voucher: .operator)
        }
    }

    @Test func `a body without an environment takes that of the signed receipt in it`() throws {
        let groups = try verifier.groups(
            UnitSamples.response(try samples.receipt()),
            voucher: .operator
        )
        #expect(groups.count == 2)
        expect(nil, of: groups, in: .sandbox)
        try verifier.expectProven(groups, voucher: .operator)
    }

    @Test func `only an operator's context can turn a purchase into a production one`() throws {
        let jws = try samples.transaction("7", environment: nil)
        for trust in EvidenceContext.Trust.allCases {
            let context = EvidenceContext(environment: .production, trust: trust)
            if trust == .vouched {
                expect(context, of: try verifier.groups(jws, context: context), in: .production)
            } else {
                #expect(throws: Rejection(.environmentUnknown, "")) {
                    try verifier.groups(jws, context: context)
                }
            }
        }
        let empty = EvidenceContext(environment: nil, trust: .vouched)
        let assuming = try samples.verifier(assuming: .production)
        #expect(throws: Rejection(.environmentUnknown, "")) {
            try assuming.groups(jws, context: empty)
        }
    }

    @Test func `an unneeded context is not recorded`() throws {
        let context = EvidenceContext(environment: .production, trust: .vouched)
        let groups = try verifier.groups(try samples.status("7"), context: context)
        expect(nil, of: groups, in: .sandbox)
    }
}
