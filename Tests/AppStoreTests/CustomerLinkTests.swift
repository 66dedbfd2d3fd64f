import AppStore
import Events
import Testing

/// The operator's statement of which customer a subscription belongs to (Apple's data: trap 37).
@Suite struct CustomerLinkTests {
    private let link = CustomerLink(
        stream: StreamID(environment: .production, originalTransactionId: "1000"),
        customer: "user_42",
        statedBy: "support \"A\"",
        reason: "forgot the password",
        statedAt: Instant(milliseconds: 1_790_000_000_000)
    )

    private func verify(
        _ payload: [UInt8],
        voucher: Voucher = .operator,
        policy: VerificationPolicy = VerificationPolicy()
    ) throws -> VerifiedPayload {
        try AppStoreVerifier(policy: policy).verify(
            payload: payload,
            source: "test",
            receivedAt: receivedAt,
            voucher: voucher
        )
    }

    private func refusal(
        _ payload: String,
        voucher: Voucher = .operator,
        policy: VerificationPolicy = VerificationPolicy()
    ) -> Rejection? {
        #expect(throws: Rejection.self, "\(payload)") {
            try verify(Array(payload.utf8), voucher: voucher, policy: policy)
        }
    }

    @Test func `a statement is read back as it was made, and is vouched for`() throws {
        let payload = link.payload
        let verified = try #require(try verify(payload).groups.first)
        let fact = try #require(verified.value.first)
        #expect(verified.value.count == 1)
        #expect(fact.kind == .link && fact.stream == link.stream && fact.bundleId.isEmpty)
        #expect(fact.asOf == link.statedAt)
        #expect(fact.purchaseDate.milliseconds == 0 && fact.expiresDate.milliseconds == 0)
        #expect(fact.content.format == .customerLink)
        #expect(fact.content.text(.customerId) == "user_42")
        #expect(fact.content.text(.linkedBy) == "support \"A\"")
        #expect(fact.content.text(.linkReason) == "forgot the password")
        #expect(fact.subject.name.isEmpty)
        #expect(verified.evidence.payload == payload)
        #expect(verified.evidence.kind == .customerLink)
        #expect(verified.evidence.verification == Verification(trust: .vouched, root: nil))
    }

    @Test func `a statement without a customer says that the subscription has none`() throws {
        let unlink = CustomerLink(
            stream: link.stream,
            customer: nil,
            statedBy: "x",
            reason: "",
            statedAt: link.statedAt
        )
        let fact = try #require(try verify(unlink.payload).facts.first)
        #expect(fact.content[.customerId] == nil && fact.content[.linkReason] == nil)
        #expect(fact.content.asserted == FieldSet([.customerId]))
    }

    @Test func `the author and the reason are not part of the statement`() throws {
        var other = try #require(try verify(link.payload).facts.first).content
        let said = other.meaningfulBytes
        other[.linkedBy] = .text("somebody else")
        other[.linkReason] = nil
        #expect(other.meaningfulBytes == said)
        other[.customerId] = .text("user_43")
        #expect(other.meaningfulBytes != said)
        #expect(Content(canonicalBytes: other.canonicalBytes) == other)
    }

    @Test func `only the operator can vouch for a statement`() {
        let payload = String(decoding: link.payload, as: UTF8.self)
        for voucher in [Voucher.unvouched, .client] {
            let rejection = refusal(payload, voucher: voucher)
            #expect(rejection?.code == .unproven)
            #expect(rejection?.message.contains("vouch") == true)
        }
    }

    @Test func `an environment that is not accepted is refused`() {
        let payload = String(decoding: link.payload, as: UTF8.self)
        let policy = VerificationPolicy(environments: [.sandbox])
        #expect(refusal(payload, policy: policy)?.code == .environmentNotAccepted)
    }

    @Test func `the shared secret is never stored`() throws {
        let payload = String(decoding: link.payload, as: UTF8.self)
        let secret = VerificationPolicy(sharedSecrets: ["user_42"])
        #expect(refusal(payload, policy: secret)?.code == .secretMisplaced)
        let other = VerificationPolicy(sharedSecrets: ["0123456789abcdef"])
        #expect(try verify(link.payload, policy: other).facts.count == 1)
    }

    @Test(arguments: ["null", " ", "0", "00000000-0000-0000-0000-000000000000", "Undefined"])
    func `a customer is not named by a word for nothing`(name: String) {
        #expect(throws: Rejection(.claimMalformed, "")) { try CustomerLink.check(customer: name) }
    }

    private static let whole = [
        #""subledger":"customer-link/1""#, #""environment":"Production""#,
        #""originalTransactionId":"1000""#, #""customer":"user_42""#, #""by":"x""#,
        #""reason":"y""#, #""statedAt":1790000000000"#,
    ]

    /// A statement with one member replaced or removed.
    private static func text(_ member: Int, _ replacement: String? = nil) -> String {
        var members = whole.map(Optional.some)
        members[member] = replacement
        return "{\(members.compactMap { $0 }.joined(separator: ","))}"
    }

    @Test(arguments: [
        (text(0, #""subledger":"customer-link/2""#), Rejection.Code.unsupportedFormat),
        (text(0, #""subledger":1"#), .unsupportedFormat), (text(1), .claimMalformed),
        (text(1, #""environment":7"#), .claimMalformed), (text(2), .idMissing),
        (text(2, #""originalTransactionId":"""#), .idMissing),
        (text(2, #""originalTransactionId":"1\u0000""#), .idMalformed),
        (text(3), .claimMalformed), (text(3, #""customer":"""#), .claimMalformed),
        (text(3, #""customer":42"#), .claimMalformed),
        (text(3, #""customer":"a\nb""#), .claimMalformed),
        (text(3, "\"customer\":\"\(String(repeating: "é", count: 129))\""), .claimMalformed),
        (text(3, #""customer":"a","customer":"b""#), .jsonDuplicateName),
        (text(3, #""custommer":"a""#), .claimMalformed), (text(4), .claimMalformed),
        (text(4, #""by":"""#), .claimMalformed),
        (text(4, "\"by\":\"\(String(repeating: "b", count: 257))\""), .claimMalformed),
        (text(5, "\"reason\":\"\(String(repeating: "r", count: 1025))\""), .claimMalformed),
        (text(5, #""reason":"\u007f""#), .claimMalformed), (text(6), .claimMalformed),
        (text(6, #""statedAt":"1790000000000""#), .claimMalformed),
        (text(6, #""statedAt":1790000000"#), .dateImplausible),
    ])
    func `what is not exactly of the form is refused`(text: String, code: Rejection.Code) {
        #expect(refusal(text)?.code == code, "\(text)")
    }

    @Test func `a link stated at the epoch holds from the first purchase on`() throws {
        let payload = Array(Self.text(6, #""statedAt":0"#).utf8)
        let fact = try #require(try verify(payload, policy: VerificationPolicy()).facts.first)
        #expect(fact.asOf == Instant(milliseconds: 0))
        #expect(refusal(Self.text(6, #""statedAt":-1"#))?.code == .dateImplausible)
    }

    @Test func `the longest names and no reason are taken`() throws {
        for text in [
            Self.text(3, "\"customer\":\"\(String(repeating: "é", count: 128))\""),
            Self.text(4, "\"by\":\"\(String(repeating: "b", count: 256))\""),
            Self.text(5, "\"reason\":\"\(String(repeating: "r", count: 1024))\""), Self.text(5),
            Self.text(5, #""reason":null"#), Self.text(3, #""customer":null"#),
        ] {
            #expect(try verify(Array(text.utf8)).facts.count == 1, "\(text.prefix(80))")
        }
    }
}
