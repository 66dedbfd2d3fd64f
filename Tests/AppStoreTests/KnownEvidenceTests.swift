import Events
import Testing

@testable import AppStore

/// Bytes already in evidence: only their signatures are not checked again.
struct KnownEvidenceTests {
    private let samples: UnitSamples
    private let verifier: AppStoreVerifier
    private let root: Digest

    init() throws {
        samples = try UnitSamples()
        verifier = try samples.verifier()
        root = verifier.policy.roots[0].digest
    }

    private func groups(
        _ payload: [UInt8],
        by verifier: AppStoreVerifier? = nil,
        known: @escaping (Digest) -> Verification?
    ) throws -> [Verified<[Fact]>] {
        try (verifier ?? self.verifier).verify(
            RecognisedPayload(payload),
            source: "test",
            receivedAt: receivedAt,
            known: known
        ).groups
    }

    private func refusal(
        _ payload: [UInt8],
        known: @escaping (Digest) -> Verification?
    ) -> Rejection.Code? {
        do {
            _ = try groups(payload, known: known)
            return nil
        } catch {
            return (error as? Rejection)?.code
        }
    }

    /// Payloads of every signed form, each with a broken signature, and their units.
    private func broken() throws -> [(payload: [UInt8], digests: [Digest])] {
        func broken(_ jws: String) -> String { jws.dropLast(8) + "AAAAAAAA" }
        let transaction = try samples.transaction("7")
        let notification = broken(try samples.notification("7"))
        let nested = try samples.notification("8")
        let status = UnitSamples.status("7", broken(transaction), try samples.renewal("7"))
        var receipt = try samples.receipt()
        receipt[receipt.count - 3] ^= 1
        let texts = [
            broken(transaction), "{\"signedPayload\":\"\(notification)\"}",
            UnitSamples.history([broken(transaction), broken(try samples.transaction("8"))]),
            UnitSamples.notificationHistory([notification, nested]),
            UnitSamples.statuses([status]), status,
        ]
        return (texts.map { Array($0.utf8) } + [receipt]).map { payload in
            (payload, verifier.evidenceDigests(of: payload))
        }
    }

    @Test func `a broken signature is accepted only if exactly its bytes are known`() throws {
        for (payload, digests) in try broken() {
            let code = refusal(payload) { _ in nil }
            #expect(code == .signatureInvalid || code == .signatureMalformed)
            let proven = try groups(payload) { digest in
                digests.contains(digest) ? .signed(root: root) : nil
            }
            #expect(proven.map(\.evidence.digest) == digests)
            #expect(proven.allSatisfy { $0.evidence.verification == .signed(root: root) })
            #expect(refusal(payload) { $0 == .zero ? .signed(root: root) : nil } == code)
            #expect(refusal(payload) { _ in Verification(trust: .fetched, root: nil) } == code)
            #expect(refusal(payload) { _ in Verification(trust: .vouched, root: nil) } == code)
            #expect(refusal(payload) { _ in .signed(root: Digest.of([1])) } == code)
        }
    }

    @Test func `known bytes do not cover another broken part of the page`() throws {
        let one = try samples.transaction("7").dropLast(8) + "AAAAAAAA"
        let two = try samples.transaction("8").dropLast(8) + "AAAAAAAA"
        let known = Digest.of(Array(one.utf8))
        let page = Array(UnitSamples.history([String(one), String(two)]).utf8)
        #expect(
            refusal(page) { $0 == known ? .signed(root: root) : nil } == .signatureInvalid
        )
    }

    @Test func `known bytes give the same facts and evidence as before`() throws {
        let texts = [
            try samples.transaction("7"), try samples.renewal("7"),
            "{\"signedPayload\":\"\(try samples.notification("7"))\"}",
            UnitSamples.history(try ["7", "8"].map { try samples.transaction($0) }),
            UnitSamples.history([try samples.transaction("9", environment: nil)]),
            UnitSamples.statuses(try ["7", "8"].map { try samples.status($0) }),
            UnitSamples.response(try samples.receipt(), environment: "Sandbox"),
        ]
        for payload in texts.map({ Array($0.utf8) }) + [try samples.receipt()] {
            let first = try groups(payload) { _ in nil }
            let records = Dictionary(
                uniqueKeysWithValues: first.map { ($0.evidence.digest, $0.evidence.verification) }
            )
            // A verifier that has judged no chain yet must derive everything itself.
            let again = try groups(payload, by: try samples.verifier()) { records[$0] }
            #expect(again.map(\.value) == first.map(\.value))
            #expect(again.map(\.evidence) == first.map(\.evidence))
        }
    }

    @Test func `known bytes are still checked against the policy`() throws {
        let payload = Array(try samples.transaction("7").utf8)
        var policy = verifier.policy
        policy.bundleIds = ["app.b"]
        #expect(throws: Rejection(.bundleIdMismatch, "")) {
            try groups(payload, by: AppStoreVerifier(policy: policy)) { _ in .signed(root: root) }
        }
        policy.bundleIds = []
        policy.environments = [.production]
        #expect(throws: Rejection(.environmentNotAccepted, "")) {
            try groups(payload, by: AppStoreVerifier(policy: policy)) { _ in .signed(root: root) }
        }
        let mixed = UnitSamples.status(
            "7",
            try samples.transaction("7"),
            try samples.renewal("8")
        )
        #expect(refusal(Array(mixed.utf8)) { _ in .signed(root: root) } == .nestedMismatch)
        #expect(refusal(Array("a.b.c".utf8)) { _ in .signed(root: root) } == .jwsMalformed)
    }

    @Test func `being known does not turn an Xcode signature into Apple's`() throws {
        let own = try RootCertificate(der: try samples.pki.leaf.der)
        let old = try samples.pki.sign(
            "{\"transactionId\":\"1\",\"originalTransactionId\":\"1\",\"bundleId\":\"app.a\","
                + "\"purchaseDate\":1700000000000,\"signedDate\":1700000001234}",
            chain: [samples.pki.leaf]
        )
        let trusting = try samples.verifier(assuming: .production, alsoTrusting: [own])
        for known in [nil, Verification.signed(root: own.digest)] {
            #expect(throws: Rejection(.xcodeSigned, "")) {
                try groups(Array(old.utf8), by: trusting) { _ in known }
            }
        }
    }
}
