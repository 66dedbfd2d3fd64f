import Events
import Testing

@testable import AppStore

/// The unit of evidence: the smallest piece that proves itself and belongs to one subscription.
struct EvidenceUnitTests {
    private let samples: UnitSamples
    private let verifier: AppStoreVerifier

    init() throws {
        samples = try UnitSamples()
        verifier = try samples.verifier()
    }

    private func expectDigests(_ groups: [Verified<[Fact]>], of payload: String) {
        #expect(groups.map(\.evidence.digest) == verifier.evidenceDigests(of: Array(payload.utf8)))
        for evidence in groups.map(\.evidence) {
            #expect(evidence.digest == Digest.of(evidence.payload))
        }
    }

    @Test func `the evidence of a notification is its JWS, whatever wraps it`() throws {
        let jws = try samples.notification("7")
        for payload in [
            jws, " \(jws)\n", "{\"signedPayload\":\"\(jws)\"}",
            "\t{\"signedPayload\" : \"\(jws)\"}\r\n", UnitSamples.notificationHistory([jws]),
        ] {
            let groups = try verifier.groups(payload)
            #expect(groups.map(\.evidence.text) == [jws])
            #expect(groups.map(\.evidence.kind) == [.signedNotification])
            #expect(
                groups.flatMap(\.value).map(\.kind) == [.transaction, .renewal, .notification]
            )
            expectDigests(groups, of: payload)
            try verifier.expectProven(groups)
        }
    }

    @Test func `the evidence of a transaction is its JWS, whatever wraps it`() throws {
        let jws = try samples.transaction("7")
        for payload in [
            jws, "{\"signedTransactionInfo\":\"\(jws)\"}", UnitSamples.history([jws]),
            UnitSamples.statuses(["{\"signedTransactionInfo\":\"\(jws)\"}"]),
        ] {
            let groups = try verifier.groups(payload)
            #expect(groups.map(\.evidence.text) == [jws])
            #expect(groups.map(\.evidence.kind) == [.signedTransaction])
            #expect(groups.allSatisfy { $0.evidence.context == nil }, "the statement names it")
            expectDigests(groups, of: payload)
            try verifier.expectProven(groups)
        }
        let renewal = try samples.renewal("7")
        #expect(try verifier.groups(renewal + "\n").map(\.evidence.kind) == [.signedRenewalInfo])
        #expect(try verifier.groups(renewal + "\n").map(\.evidence.text) == [renewal])
    }

    @Test func `an element of a statuses response keeps its original bytes`() throws {
        let elements = try ["7", "8"].map { try samples.status($0) }
        let page = UnitSamples.statuses(elements)
        let groups = try verifier.groups(page)
        #expect(groups.map(\.evidence.text) == elements)
        #expect(groups.allSatisfy { $0.evidence.kind == .subscriptionStatus })
        for group in groups { #expect(group.value.map(\.kind) == [.transaction, .renewal]) }
        expectDigests(groups, of: page)
        try verifier.expectProven(groups)
        let bare = try verifier.groups(" " + elements[0])
        #expect(bare.map(\.evidence) == [groups[0].evidence])
        #expect(bare.map(\.value) == [groups[0].value])
    }

    @Test(
        arguments: [
            "\"subledger\":\"customer-link/1\"", "\"signedPayload\":\"a.b.c\"", "\"data\":[]",
        ]
    )
    func `an element whose members have other forms is still read as an element`(
        member: String
    ) throws {
        let element = try samples.status("7").dropLast() + ",\(member)}"
        let groups = try verifier.groups(UnitSamples.statuses([String(element)]))
        #expect(groups.map(\.evidence.kind) == [.subscriptionStatus])
        try verifier.expectProven(groups)
    }

    @Test
    func `an element with only renewal info is a status, and one without statements is nothing`()
        throws
    {
        let renewal = "{\"signedRenewalInfo\":\"\(try samples.renewal("7"))\"}"
        let page = UnitSamples.statuses(["{\"status\":2}", renewal])
        let groups = try verifier.groups(page)
        #expect(groups.map(\.evidence.text) == [renewal])
        #expect(groups.map(\.evidence.kind) == [.subscriptionStatus])
        expectDigests(groups, of: page)
        try verifier.expectProven(groups)
        #expect(verifier.refusal(UnitSamples.statuses(["{\"status\":2}"])) == .nothingSigned)
    }

    @Test func `a page of many customers gives each a unit that contains no one else's data`()
        throws
    {
        let ids = (100..<120).map(String.init)
        let pages = [
            UnitSamples.history(try ids.map { try samples.transaction($0) }),
            UnitSamples.statuses(try ids.map { try samples.status($0) }),
            UnitSamples.notificationHistory(try ids.map { try samples.notification($0) }),
        ]
        for page in pages {
            let groups = try verifier.groups(page)
            #expect(groups.count == ids.count)
            for (id, group) in zip(ids, groups) {
                #expect(group.value.allSatisfy { $0.stream.originalTransactionId == id })
                let claims = try claims(in: group.evidence)
                #expect(claims.contains("\"originalTransactionId\":\"\(id)\""))
                for other in ids where other != id {
                    #expect(!claims.contains("\"originalTransactionId\":\"\(other)\""))
                }
            }
            expectDigests(groups, of: page)
            try verifier.expectProven(groups)
        }
    }

    // The claims of every JWS in a unit, including nested ones.
    private func claims(in evidence: Evidence) throws -> String {
        var texts = [evidence.text]
        var found = ""
        while let text = texts.popLast() {
            for match in text.matches(of: #/[A-Za-z0-9_-]+\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+/#) {
                let bytes = try #require(Base64.decodeURLUnpadded(Array(match.1.utf8)[...]))
                texts.append(String(decoding: bytes, as: UTF8.self))
            }
            found += text
        }
        return found
    }

    @Test func `equal parts of a page are one unit`() throws {
        let (one, two) = (try samples.transaction("7"), try samples.transaction("8"))
        let page = UnitSamples.history([one, two, one])
        let groups = try verifier.groups(page)
        #expect(groups.map(\.evidence.text) == [one, two])
        #expect(groups.map(\.value.count) == [1, 1])
        expectDigests(groups, of: page)
        let status = try samples.status("7")
        #expect(try verifier.groups(UnitSamples.statuses([status, status])).count == 1)
    }

    @Test func `one statement that cannot be verified refuses the whole page`() throws {
        let good = try samples.transaction("7")
        let bad = try samples.transaction("8").dropLast(8) + "AAAAAAAA"
        #expect(verifier.refusal(UnitSamples.history([good, String(bad)])) == .signatureInvalid)
        let element = try samples.status("7")
        let mixed = UnitSamples.status("7", good, try samples.renewal("8"))
        #expect(verifier.refusal(UnitSamples.statuses([element, mixed])) == .nestedMismatch)
    }

    @Test func `the evidence of an app receipt is its DER, whatever the channel`() throws {
        let der = try samples.receipt()
        let text = UnitSamples.base64(der)
        let lines = text.enumerated().map { $0 % 64 == 63 ? "\($1)\r\n" : "\($1)" }.joined()
        var found: Set<Evidence> = []
        for payload in [der] + [text, " \(lines)\n", base64URL(der)].map({ Array($0.utf8) }) {
            let groups = try verifier.verify(
                payload: payload,
                source: "test",
                receivedAt: receivedAt
            ).groups
            found.formUnion(groups.map(\.evidence))
            #expect(verifier.evidenceDigests(of: payload) == [Digest.of(der)])
            try verifier.expectProven(groups)
        }
        let body = UnitSamples.response(der, environment: "Sandbox")
        found.formUnion(try verifier.groups(body).map(\.evidence))
        #expect(found.map(\.payload) == [der], "one piece of evidence for all of them")
        #expect(found.map(\.kind) == [.appReceipt])
    }

    @Test func `an unsigned body is kept whole, without what wraps it`() throws {
        let body = UnitSamples.response(try samples.receipt(), environment: "Sandbox")
        let payload = "\t\n\(body)\r\n"
        let groups = try verifier.groups(payload, voucher: .operator)
        #expect(groups.map(\.evidence.kind) == [.appReceipt, .verifyReceiptResponse])
        #expect(groups.last?.evidence.text == body)
        #expect(Set(groups.last?.value.map(\.stream.originalTransactionId) ?? []) == ["7", "8"])
        expectDigests(groups, of: payload)
        try verifier.expectProven(groups, voucher: .operator)
        let secret = body.replacing("{\"status\"", with: "{\"password\":\"hushhush\",\"status\"")
        let blanked = try #require(try verifier.groups(secret, voucher: .operator).last)
        #expect(blanked.evidence.text == secret.replacing("hushhush", with: ""))
        #expect(verifier.evidenceDigests(of: Array(secret.utf8)).last == blanked.evidence.digest)
    }

    @Test func `a customer link is kept without what wraps it`() throws {
        let link = CustomerLink(
            stream: StreamID(environment: .sandbox, originalTransactionId: "7"),
            customer: "u",
            statedBy: "s",
            reason: "",
            statedAt: receivedAt
        )
        let payload = " " + String(decoding: link.payload, as: UTF8.self) + "\n"
        let groups = try verifier.groups(payload, voucher: .operator)
        #expect(groups.map(\.evidence.payload) == [link.payload])
        expectDigests(groups, of: payload)
    }

    @Test func `each unit records how its payload arrived`() throws {
        for arrival in Arrival.allCases {
            let verified = try verifier.verify(
                payload: Array(
                    UnitSamples.response(try samples.receipt(), environment: "Sandbox").utf8
                ),
                source: "test",
                arrival: arrival,
                receivedAt: receivedAt,
                voucher: .operator
            )
            #expect(verified.groups.map(\.evidence.arrival) == [arrival, arrival])
        }
    }

    @Test(arguments: ["", "{", "{}", "[]", "nonsense", "{\"status\":21002}"])
    func `an unreadable payload has no addresses`(payload: String) {
        #expect(verifier.evidenceDigests(of: Array(payload.utf8)).isEmpty)
    }
}

extension AppStoreVerifier {
    /// The addresses of a payload's units; empty if its form is unknown.
    func evidenceDigests(of payload: [UInt8]) -> [Digest] {
        do throws(Rejection) {
            return evidenceDigests(of: try RecognisedPayload(payload))
        } catch {
            return []
        }
    }
}
