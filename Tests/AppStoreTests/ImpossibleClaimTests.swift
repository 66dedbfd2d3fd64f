import Crypto
import Events
import Foundation
import Testing

@testable import AppStore

/// Signed statements whose claims the App Store cannot make, or which
/// contradict what surrounds them.
struct ImpossibleClaimTests {
    private let forge: StatementForge
    private let verifier: AppStoreVerifier

    init() throws {
        forge = try StatementForge()
        verifier = try forge.verifier()
    }

    /// Signs changed claims and puts them at a place in the payload.
    private func refusal(
        at place: StatementPlace,
        by verifier: AppStoreVerifier? = nil,
        _ change: (String) throws -> String
    ) throws -> Rejection.Code? {
        let claims = try forge.claims(at: place)
        let changed = try change(claims)
        #expect(changed != claims, "nothing was changed")
        let payload = try forge.payload(try forge.pki.sign(changed), at: place)
        return (verifier ?? self.verifier).refusal(payload)
    }

    private func refusal(at place: StatementPlace, adding members: String) throws -> Rejection.Code?
    {
        try refusal(at: place) { $0.dropLast() + "," + members + "}" }
    }

    private static var signedDate: Regex<Substring> { #/"signedDate":\d+/# }

    @Test(arguments: StatementPlace.allCases)
    func `a date must be one that the App Store can give`(place: StatementPlace) throws {
        let dates: [(String, Rejection.Code)] = [
            ("1199145599999", .dateImplausible), ("7258118400000", .dateImplausible),
            ("0", .dateImplausible), ("-0", .dateImplausible), ("1.5", .dateImplausible),
            ("-1700000000000", .dateImplausible), ("1e999", .dateImplausible),
            ("1e-999", .dateImplausible), ("9223372036854775808", .dateImplausible),
            ("17000000000000000000000000", .dateImplausible),
            ("1e9999", .jsonMalformed), (String(repeating: "9", count: 400), .jsonMalformed),
            ("01700000000000", .jsonMalformed), ("NaN", .jsonMalformed), ("", .jsonMalformed),
            ("\"1700000000000\"", .claimMalformed), ("true", .claimMalformed),
            ("[]", .claimMalformed),
        ]
        for (date, code) in dates {
            let found = try refusal(at: place) {
                $0.replacing(ImpossibleClaimTests.signedDate, with: "\"signedDate\":\(date)")
            }
            #expect(found == code, "\(date), \(place)")
        }
    }

    @Test(arguments: StatementPlace.allCases)
    func `claims are one JSON text with a single meaning`(place: StatementPlace) throws {
        let twice = "\"signedDate\":1700000000000"
        let escaped = "\"signedD\\u0061te\":1700000000000"
        let added: [(String, Rejection.Code)] = [
            (twice, .jsonDuplicateName), (escaped, .jsonDuplicateName),
            ("\"new\":{\"a\":1,\"a\":2}", .jsonDuplicateName),
            ("\"new\":\"\\ud800\"", .jsonMalformed), ("\"new\":\"\\udc00\\ud800\"", .jsonMalformed),
            ("\"new\":\"\u{1}\"", .jsonMalformed), ("\"new\":\"\\x\"", .jsonMalformed),
            ("\"new\":1,", .jsonMalformed),
            ("\"new\":\(String(repeating: "9", count: 400))", .jsonMalformed),
            ("\"new\":\(String(repeating: "[", count: 500_000))", .jsonTooDeep),
            ("\"new\":\(String(repeating: "{\"a\":", count: 100_000))", .jsonTooDeep),
        ]
        for (members, code) in added {
            #expect(
                try refusal(at: place, adding: members) == code,
                "\(members.prefix(40)), \(place)"
            )
        }
        let whole: [((String) -> String, Rejection.Code)] = [
            ({ "\u{feff}" + $0 }, .jsonMalformed), ({ $0 + "{}" }, .jsonMalformed),
            ({ $0 + "\0" }, .jsonMalformed), ({ "[" + $0 + "]" }, .jwsMalformed),
            ({ _ in "null" }, .jwsMalformed), ({ _ in "" }, .jsonMalformed),
            ({ $0.replacing("\"", with: "'") }, .jsonMalformed),
        ]
        for (number, (change, code)) in whole.enumerated() {
            #expect(try refusal(at: place) { change($0) } == code, "\(number), \(place)")
        }
    }

    @Test(arguments: StatementPlace.allCases)
    func `bytes that are not UTF-8 are refused as text`(place: StatementPlace) throws {
        let claims = try forge.claims(at: place).dropLast()
        for bytes in [
            [0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82],
        ] as [[UInt8]] {
            let text = Array(claims.utf8) + Array(",\"new\":\"".utf8) + bytes + Array("\"}".utf8)
            let input =
                base64URL(Array(try TestPKI.header(forge.pki.chain).utf8)) + "." + base64URL(text)
            let signature = try forge.pki.leafKey.signature(for: Array(input.utf8))
            let jws = input + "." + base64URL(Array(signature.rawRepresentation))
            #expect(
                verifier.refusal(try forge.payload(jws, at: place)) == .jsonMalformed,
                "\(bytes)"
            )
        }
    }

    @Test(arguments: StatementPlace.allCases)
    func `an id is short and has no control characters`(place: StatementPlace) throws {
        let id = place.isNotification ? "notificationUUID" : "originalTransactionId"
        let pattern = try Regex("\"\(id)\":\"[^\"]*\"")
        for text in [
            String(repeating: "9", count: 10_000), "7\\u0000", "7\\n", "\\u001b[2J", "7\\u007f",
        ] {
            let found = try refusal(at: place) {
                $0.replacing(pattern, with: "\"\(id)\":\"\(text)\"")
            }
            #expect(found == .idMalformed, "\(text.prefix(20)), \(place)")
        }
        guard !place.isNotification else { return }
        let found = try refusal(at: place) { $0.replacing(pattern, with: "\"\(id)\":[7]") }
        #expect(found == .idMalformed, "\(place)")
    }

    @Test func `a statement of another app or environment is refused, alone or nested`() throws {
        let app = "\"example.subledger\""
        let word = "\"Production\""
        let cases: [(StatementPlace, String, String, Rejection.Code)] = [
            (.transaction, app, "\"example.other\"", .bundleIdMismatch),
            (.response, app, "\"example.other\"", .bundleIdMismatch),
            (.notification, app, "\"example.other\"", .bundleIdMismatch),
            (.nestedTransaction, app, "\"example.other\"", .nestedMismatch),
            (.transaction, word, "\"Sandbox\"", .environmentNotAccepted),
            (.renewalInfo, word, "\"Sandbox\"", .environmentNotAccepted),
            (.response, word, "\"Sandbox\"", .environmentNotAccepted),
            (.notification, word, "\"Sandbox\"", .environmentNotAccepted),
            (.nestedTransaction, word, "\"Sandbox\"", .nestedMismatch),
            (.nestedRenewalInfo, word, "\"Sandbox\"", .nestedMismatch),
            (.transaction, word, "\"production\"", .environmentNotAccepted),
            (.transaction, word, "\"Xcode\"", .environmentNotAccepted),
            (.transaction, word, "\"\"", .environmentUnknown),
            (.renewalInfo, word, "null", .environmentUnknown),
            (.transaction, app, "\"\"", .bundleIdMismatch),
            (.transaction, app, "7", .claimMalformed),
            (.transaction, word, "7", .claimMalformed),
            (.notification, "1234567890", "1234567891", .appAppleIdMismatch),
            (.notification, "1234567890", "\"1234567890\"", .appAppleIdMismatch),
            (.notification, "1234567890", "1e999", .appAppleIdMismatch),
        ]
        for (place, genuine, forged, code) in cases {
            let found = try refusal(at: place) { $0.replacing(genuine, with: forged) }
            #expect(found == code, "\(forged), \(place)")
        }
    }

    @Test func `a statement is accepted only where its kind belongs`() throws {
        let transaction = try forge.pki.sign(forge.transaction)
        let renewalInfo = try forge.pki.sign(forge.renewalInfo)
        let notification = try forge.pki.sign(try forge.notification())
        func refusal(_ text: String) -> Rejection.Code? { verifier.refusal(text) }
        for jws in [transaction, renewalInfo] {
            #expect(refusal("{\"signedPayload\":\"\(jws)\"}") == .nestedMismatch)
            let body = "{\"notificationHistory\":[{\"signedPayload\":\"\(jws)\"}]}"
            #expect(refusal(body) == .nestedMismatch)
        }
        for jws in [renewalInfo, notification] {
            #expect(refusal("{\"signedTransactions\":[\"\(jws)\"]}") == .nestedMismatch)
            let outer = try forge.pki.sign(try forge.notification(transaction: jws))
            #expect(refusal("{\"signedPayload\":\"\(outer)\"}") == .nestedMismatch)
        }
        for jws in [transaction, notification] {
            let outer = try forge.pki.sign(try forge.notification(renewalInfo: jws))
            #expect(refusal("{\"signedPayload\":\"\(outer)\"}") == .nestedMismatch)
        }
        let app = "{\"receiptType\":\"Production\",\"receiptCreationDate\":1700000000000}"
        #expect(refusal(try forge.pki.sign(app)) == .appTransaction)
        #expect(
            refusal("{\"signedTransactions\":[\"\(try forge.pki.sign(app))\"]}") == .nestedMismatch
        )
    }

    @Test func `an unsigned wrapper cannot combine two subscriptions or two apps`() throws {
        let transaction = try forge.pki.sign(forge.transaction)
        let id = #/"originalTransactionId":"[^"]*"/#
        let other = try forge.pki.sign(
            forge.renewalInfo.replacing(id, with: "\"originalTransactionId\":\"700\"")
        )
        let body =
            "{\"data\":[{\"lastTransactions\":[{\"signedTransactionInfo\":\"\(transaction)\","
            + "\"signedRenewalInfo\":\"\(other)\"}]}]}"
        #expect(verifier.refusal(body) == .nestedMismatch)
        let foreign = try forge.pki.sign(
            forge.transaction.replacing("example.subledger", with: "example.other")
        )
        #expect(
            verifier.refusal("{\"signedTransactions\":[\"\(transaction)\",\"\(foreign)\"]}")
                == .bundleIdMismatch,
            "one of them genuine makes the other no better"
        )
    }

    @Test func `contents of the unsigned wrapper are ignored`() throws {
        let sandbox = try forge.verifier(environments: [.production, .sandbox])
        let statement = try forge.pki.sign(
            forge.transaction.replacing("\"Production\"", with: "\"Sandbox\"")
        )
        let body =
            "{\"environment\":\"Production\",\"bundleId\":\"example.other\","
            + "\"signedTransactions\":[\"\(statement)\"]}"
        let facts = try sandbox.facts(body)
        #expect(facts.map(\.stream.environment) == [.sandbox])
        #expect(facts.map(\.bundleId) == ["example.subledger"])
        // Payloads of 2021 name no environment; the wrapper must not turn them into production.
        let old = try forge.pki.sign(
            forge.transaction.replacing("\"environment\":\"Production\",", with: "")
        )
        let claim = "{\"environment\":\"Production\",\"signedTransactions\":[\"\(old)\"]}"
        #expect(sandbox.refusal(claim) == .environmentUnknown)
    }

    @Test func `bodies with a repeated name, unsigned statements or no statement are refused`()
        throws
    {
        let jws = try forge.pki.sign(try forge.notification())
        let other = try forge.pki.sign(forge.transaction)
        let cases: [(String, Rejection.Code)] = [
            ("{\"signedPayload\":\"\(jws)\",\"signedPayload\":\"\(other)\"}", .jsonDuplicateName),
            ("{\"signedPayload\":\"\(jws)\",\"signed\\u0050ayload\":\"\"}", .jsonDuplicateName),
            ("{\"signedTransactions\":[\(forge.transaction)]}", .claimMalformed),
            ("{\"signedTransactions\":[]}", .nothingSigned),
            ("{\"data\":[]}", .nothingSigned),
            (forge.transaction, .unproven),
            ("\u{feff}{\"signedPayload\":\"\(jws)\"}", .unsupportedFormat),
            ("{\"signedPayload\":\"\(jws)\"}}", .jsonMalformed),
            ("{\"a\":" + String(repeating: "[", count: 1_000_000), .jsonTooDeep),
            ("", .payloadEmpty), (" \n", .payloadEmpty),
        ]
        for (body, code) in cases {
            #expect(verifier.refusal(body) == code, "\(body.prefix(40))")
        }
    }

    // Each of these would be refused for another reason if it were parsed first.
    @Test func `an oversized payload is refused before it is parsed`() throws {
        let limit = AppStoreVerifier.payloadByteCountMax
        let jws = try forge.pki.sign(forge.transaction)
        for count in [limit + 1, 100_000_000] {
            for (head, filler) in [("{\"a\":", "["), ("", "0"), ("", "A"), (jws, "."), ("", " ")] {
                var payload = Array(head.utf8)
                payload += [UInt8](repeating: Array(filler.utf8)[0], count: count - payload.count)
                #expect(verifier.refusal(payload) == .payloadTooLarge, "\(count) of \(filler)")
                payload[0] = 0x30
                #expect(verifier.refusal(payload) == .payloadTooLarge, "\(count) of \(filler)")
            }
        }
        // A JWS has its own limit, so that a body cannot hold a few giant ones.
        for place in StatementPlace.allCases {
            let long = try forge.payload(jws + String(repeating: "A", count: 1 << 20), at: place)
            #expect(verifier.refusal(long) == .payloadTooLarge, "\(place)")
        }
        let segments = jws.split(separator: ".")
        let brackets = base64URL([UInt8](repeating: UInt8(ascii: "["), count: 1_000_000))
        let deep = "\(segments[0]).\(brackets).\(segments[2])"
        #expect(verifier.refusal(deep) == .payloadTooLarge)
    }
}
