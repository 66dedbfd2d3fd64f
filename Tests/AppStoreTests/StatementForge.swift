import AppStoreSimulator
import Crypto
import Events
import Foundation
import Testing
import X509

@testable import AppStore

/// Where a signed statement can appear in a payload.
enum StatementPlace: String, CaseIterable {
    case transaction
    case renewalInfo
    case notification
    case nestedTransaction
    case nestedRenewalInfo
    case response

    /// The kind of statement at that place.
    var isNotification: Bool { self == .notification }
    var isRenewalInfo: Bool { self == .renewalInfo || self == .nestedRenewalInfo }
}

/// Statements of a simulated life, signed by an authority whose keys the tests hold, so that each
/// layer can be forged separately: everything around a forged statement is genuine and signed.
struct StatementForge {
    let pki: TestPKI
    /// Claims as JSON.
    let transaction: String
    let renewalInfo: String
    private let notificationClaims: String
    private let nestedTransaction: String
    private let nestedRenewalInfo: String

    static let store = SimulatedStore(pki: SimulatedPKI(seed: 20_261_121))

    init() throws {
        pki = try TestPKI()
        let life = AppStoreSimulator(seed: 20_261_121, store: StatementForge.store).life(0)
        let body = try JSON(try #require(life.notifications().first).payload)
        notificationClaims = try StatementForge.claims(
            try #require(body.root["signedPayload"]?.text)
        )
        let data = try #require(try JSON(Array(notificationClaims.utf8)).root["data"])
        nestedTransaction = try #require(data["signedTransactionInfo"]?.text)
        nestedRenewalInfo = try #require(data["signedRenewalInfo"]?.text)
        transaction = try StatementForge.claims(nestedTransaction)
        renewalInfo = try StatementForge.claims(nestedRenewalInfo)
    }

    /// A verifier for the store's app, in production, that trusts these authorities.
    func verifier(
        alsoTrusting others: [TestPKI] = [],
        environments: Set<StoreEnvironment> = [.production]
    ) throws -> AppStoreVerifier {
        var policy = try pki.policy(
            bundleIds: [StatementForge.store.bundleId],
            appAppleId: StatementForge.store.appAppleId,
            environments: environments
        )
        for other in others { policy.roots += try other.policy().roots }
        return AppStoreVerifier(policy: policy)
    }

    /// The claims of the statement at a place, as JSON.
    func claims(at place: StatementPlace) throws -> String {
        if place.isNotification { return try notification() }
        return place.isRenewalInfo ? renewalInfo : transaction
    }

    /// The claims of the notification, around these statements instead of the genuine ones.
    func notification(transaction: String? = nil, renewalInfo: String? = nil) throws -> String {
        notificationClaims
            .replacing(nestedTransaction, with: try transaction ?? pki.sign(self.transaction))
            .replacing(nestedRenewalInfo, with: try renewalInfo ?? pki.sign(self.renewalInfo))
    }

    /// The payload with that JWS at a place; everything around it is genuine.
    func payload(_ jws: String, at place: StatementPlace) throws -> [UInt8] {
        let text: String
        switch place {
        case .transaction, .renewalInfo: text = jws
        case .notification: text = "{\"signedPayload\":\"\(jws)\"}"
        case .nestedTransaction:
            text = "{\"signedPayload\":\"\(try pki.sign(try notification(transaction: jws)))\"}"
        case .nestedRenewalInfo:
            text = "{\"signedPayload\":\"\(try pki.sign(try notification(renewalInfo: jws)))\"}"
        case .response:
            text =
                "{\"revision\":\"1\",\"hasMore\":false,\"environment\":\"Production\","
                + "\"signedTransactions\":[\"\(jws)\"]}"
        }
        return Array(text.utf8)
    }

    /// The claims of a JWS, as text.
    static func claims(_ jws: String) throws -> String {
        let segments = jws.split(separator: ".")
        let claims = try #require(Base64.decodeURLUnpadded(Array(segments[1].utf8)[...]))
        return String(decoding: claims, as: UTF8.self)
    }
}

/// A forgery with a plain name, and how it is made from a genuine statement.
struct Forgery: Sendable {
    /// What was done.
    let name: String
    /// The reason why it must be refused.
    let code: Rejection.Code
    /// Makes the JWS of it.
    let make: @Sendable (StatementForge.Statement) throws -> String

    init(
        _ code: Rejection.Code,
        _ name: String,
        _ make: @escaping @Sendable (StatementForge.Statement) throws -> String
    ) {
        self.name = name
        self.code = code
        self.make = make
    }
}

extension StatementForge {
    /// A genuine statement, in parts.
    struct Statement {
        let pki: TestPKI
        /// The claims, as JSON.
        let claims: String
        /// Another statement of the same authority.
        let other: String

        /// The three segments of the genuine JWS.
        var segments: [String] {
            get throws { try pki.sign(claims).split(separator: ".").map(String.init) }
        }

        /// The header as JSON.
        var header: String { get throws { try TestPKI.header(pki.chain) } }

        /// The genuine JWS with one segment replaced.
        func replacing(_ segment: Int, with text: String) throws -> String {
            var segments = try segments
            segments[segment] = text
            return segments.joined(separator: ".")
        }

        /// The genuine claims under a signature of these bytes.
        func signed(_ signature: [UInt8]) throws -> String {
            try replacing(2, with: base64URL(signature))
        }

        /// Signed by the genuine key, under a header with these certificates.
        func chained(_ chain: [Certificate]) throws -> String {
            try pki.sign(claims, chain: chain)
        }

        /// Signed by the genuine key, with these members added to the header.
        func header(adding members: String) throws -> String {
            try pki.sign(claims, header: try header.dropLast() + "," + members + "}")
        }
    }

    /// The payload of a forgery at a place.
    func payload(_ forgery: Forgery, at place: StatementPlace) throws -> [UInt8] {
        let statement = Statement(
            pki: pki,
            claims: try claims(at: place),
            other: place.isRenewalInfo ? transaction : renewalInfo
        )
        return try payload(try forgery.make(statement), at: place)
    }
}
