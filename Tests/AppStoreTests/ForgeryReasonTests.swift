import AppStoreSimulator
import Events
import Foundation
import Testing

@testable import AppStore

/// Each kind of forgery with a plain name is refused for its own reason.
struct ForgeryReasonTests {
    /// Forged statements from the tables of the other suites, one of each kind.
    private static let kinds = [
        "no algorithm", "a critical extension", "no certificates", "two certificates",
        "no base64", "self-made from the root", "a foreign intermediate",
        "the leaf alone, as Xcode sends it", "two algorithms", "a header of brackets",
        "an empty header", "four segments", "signature truncated", "signature of zeros",
    ]

    @Test func `each kind of forged statement has its own reason`() throws {
        let forge = try StatementForge()
        let tables =
            ForgedStatementTests.signatures + ForgedStatementTests.algorithms
            + ForgedStatementTests.headers + UntrustedChainTests.chains
        var reasons: [Rejection.Code: String] = [:]
        func note(_ code: Rejection.Code?, _ kind: String) throws {
            let code = try #require(code, "\(kind) was accepted")
            #expect(reasons.updateValue(kind, forKey: code) == nil, "\(kind) shares its reason")
        }
        let verifier = try forge.verifier()
        for kind in ForgeryReasonTests.kinds {
            let forgery = try #require(tables.first { $0.name == kind }, "\(kind)")
            let payload = try forge.payload(forgery, at: .transaction)
            try note(verifier.refusal(payload), kind)
        }
        for (_, name, change) in UntrustedChainTests.flaws
        where !name.contains("may not sign") && !name.contains("stranger")
            && !name.contains("Ed25519") && !name.contains("not yet")
        {
            var flaws = TestPKI.Flaws()
            change(&flaws)
            let flawed = try TestPKI(flaws)
            let trusting = try forge.verifier(alsoTrusting: [flawed])
            try note(trusting.refusal(try flawed.sign(forge.transaction)), name)
        }
        let claims: [(String, String, String)] = [
            ("of another app", "\"example.subledger\"", "\"example.other\""),
            ("of another environment", "\"Production\"", "\"Sandbox\""),
            ("of no environment", "\"Production\"", "\"\""),
            ("environment that is no text", "\"Production\"", "7"),
            ("date of no time", "\"signedDate\":", "\"signedDate\":0,\"new\":"),
            (
                "id with a line break", "\"originalTransactionId\":\"",
                "\"originalTransactionId\":\"\\n"
            ),
        ]
        for (kind, genuine, forged) in claims {
            let jws = try forge.pki.sign(forge.transaction.replacing(genuine, with: forged))
            try note(verifier.refusal(jws), kind)
        }
        let notification = try forge.notification().replacing("1234567890", with: "1")
        let wrapped = "{\"signedPayload\":\"\(try forge.pki.sign(notification))\"}"
        try note(verifier.refusal(wrapped), "of another App Store id")
        let mixed = "{\"signedTransactions\":[\"\(try forge.pki.sign(forge.renewalInfo))\"]}"
        try note(verifier.refusal(mixed), "a statement in another's place")
        try note(verifier.refusal("{\"signedTransactions\":[]}"), "a body that proves nothing")
        try note(verifier.refusal(forge.transaction), "claims without a signature")
        let limit = AppStoreVerifier.payloadByteCountMax
        try note(verifier.refusal([UInt8](repeating: 0x41, count: limit + 1)), "too large")
        #expect(reasons.count == 31, "\(reasons.count) kinds")
    }

    // A JWS and a receipt with the same flaw in their chain are refused with the same code.
    @Test(
        arguments: [
            (.leafWithoutMarker, .leafOIDMissing),
            (.intermediateWithoutMarker, .intermediateOIDMissing),
            (.expiredLeaf, .certificateExpired),
            (.intermediateWithoutAuthority, .issuerNotCA),
        ] as [(SimulatedPKI.Flaws, Rejection.Code)]
    )
    func `every format gives the same code for the same flaw in a chain`(
        flaws: SimulatedPKI.Flaws,
        code: Rejection.Code
    ) throws {
        let life = AppStoreSimulator(seed: 3, flaws: flaws).life(0)
        let verifier = AppStoreVerifier(
            policy: VerificationPolicy(roots: [try RootCertificate(der: life.store.pki.rootDER)])
        )
        let instant = try #require(life.horizon)
        let payloads =
            life.notifications().prefix(1).map(\.payload) + [
                life.statuses(asOf: instant).payload, life.history(asOf: instant)[0].payload,
                life.appReceipt(asOf: instant),
                life.appReceiptBase64(asOf: instant, form: .indefiniteLengths, inLines: true),
            ]
        for payload in payloads { #expect(verifier.refusal(payload) == code) }
    }
}
