import AppStore
import AppStoreSimulator
import EventLog
import Events

/// Genuine payloads of every format, from one simulated store, and everything they prove.
struct FuzzCorpus: Sendable {
    /// Signs the changes that mutations make behind the signature.
    let pki: SimulatedPKI
    /// Trusts only the store, and knows its app's shared secret.
    let verifier: AppStoreVerifier
    /// The same without the secret: only signatures count.
    let strictVerifier: AppStoreVerifier

    /// Bare JWS: notifications, transactions, renewal info.
    let statements: [[UInt8]]
    /// Their claims, decoded.
    let claims: [[UInt8]]
    /// The statements, and the bodies that carry them.
    let signed: [[UInt8]]
    /// verifyReceipt responses of both generations, and version 1 notifications.
    let unsigned: [[UInt8]]
    /// App receipts in every form, binary and base64.
    let receipts: [[UInt8]]
    /// Canonical bytes of contents.
    let contents: [[UInt8]]
    /// Names of members, as in any payload.
    let names: [[UInt8]]
    /// The names as a dictionary to pack with.
    let dictionary: EvidenceDictionary?
    /// Everything that the store signed.
    let proven: Set<Fact>

    /// The arrival time used for the payloads.
    static let receivedAt = Instant(milliseconds: 1_760_000_000_000)
    private static let lifeCount = 6
    private static let notificationsPerLife = 5

    /// The corpus of a seed; throws the verifier's error if a genuine payload is refused.
    init(seed: UInt64) throws(Rejection) {
        let simulator = AppStoreSimulator(seed: seed)
        let store = simulator.store
        pki = store.pki
        func verifier(secret: String?) throws(Rejection) -> AppStoreVerifier {
            AppStoreVerifier(
                policy: VerificationPolicy(
                    roots: [try RootCertificate(der: store.pki.rootDER)],
                    bundleIds: [store.bundleId],
                    appAppleId: store.appAppleId,
                    sharedSecrets: [secret].compactMap { $0 }
                )
            )
        }
        self.verifier = try verifier(secret: SubscriptionLife.sharedSecret)
        strictVerifier = try verifier(secret: nil)
        var payloads = Payloads()
        for life in simulator.lives(FuzzCorpus.lifeCount) { payloads.take(life) }
        statements = payloads.signed.flatMap { FuzzCorpus.statements(in: $0) }
        claims = statements.compactMap { statement in
            Base64.decodeURLUnpadded(statement.split(separator: UInt8(ascii: "."))[1])
        }
        signed = payloads.signed + statements
        unsigned = payloads.unsigned
        receipts = payloads.receipts
        names = FuzzCorpus.names(in: signed + unsigned)
        dictionary = EvidenceDictionary(number: 1, bytes: Array(names.joined()))
        var proven: Set<Fact> = []
        for payload in signed + receipts + unsigned {
            do throws(Rejection) {
                proven.formUnion(try strictVerifier.fuzzed(payload).facts)
            } catch  where error.code == .unproven {
                // Responses of iOS 6 and early notifications embed no app receipt.
                continue
            }
        }
        self.proven = proven
        contents = proven.map(\.content.canonicalBytes).sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// All JWS in a payload, including those in the claims of others.
    static func statements(in payload: [UInt8]) -> [[UInt8]] {
        let runs = payload.split { !Base64.isURLCharacter($0) && $0 != UInt8(ascii: ".") }
        return runs.flatMap { run -> [[UInt8]] in
            let segments = run.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            guard segments.count == 3, run.starts(with: "eyJ".utf8),
                let claims = Base64.decodeURLUnpadded(segments[1])
            else { return [] }
            return [Array(run)] + statements(in: claims)
        }
    }

    private static func names(in payloads: [[UInt8]]) -> [[UInt8]] {
        var names: Set<[UInt8]> = []
        for payload in payloads {
            var texts = [payload]
            for statement in statements(in: payload) {
                let segments = statement.split(separator: UInt8(ascii: "."))
                texts += segments.compactMap { Base64.decodeURLUnpadded($0) }
            }
            for text in texts {
                if let tree = Mutator.tree(text) { names.formUnion(tree.names) }
            }
        }
        return names.sorted { $0.lexicographicallyPrecedes($1) }
    }
}

extension FuzzCorpus {
    private struct Payloads {
        var signed: [[UInt8]] = []
        var unsigned: [[UInt8]] = []
        var receipts: [[UInt8]] = []

        private static let styles: [ReceiptStyle] = [
            [], [.realBooleans, .numericIds, .emptyTexts], [.textDatesOnly, .nullDownloadId],
            [.subsecondDates, .upgradesCancelled, .volumePurchase, .legacyNotification],
            [.withoutUnifiedReceipt, .withoutLineItemIds],
        ]
        private static let forms: [AppReceiptForm] = [
            [], [.sha1], [.indefiniteLengths], [.wrappedTwice, .onlyKnownAttributes],
        ]

        mutating func take(_ life: SubscriptionLife) {
            guard let horizon = life.horizon, let first = life.events.first else { return }
            signed += life.notifications().prefix(FuzzCorpus.notificationsPerLife).map(\.payload)
            signed += life.history(asOf: first.signedAt).map(\.payload)
            signed.append(life.statuses(asOf: horizon).payload)
            let style = Payloads.styles[Int(life.identity.index) % Payloads.styles.count]
            let form = Payloads.forms[Int(life.identity.index) % Payloads.forms.count]
            for instant in [first.signedAt, horizon] {
                unsigned.append(life.verifyReceiptResponse(asOf: instant, style: style))
                receipts.append(life.appReceipt(asOf: instant, form: form))
                receipts.append(
                    life.appReceiptBase64(asOf: instant, inLines: instant == horizon)
                )
                let old = life.verifyReceiptResponse(ofPurchase: 0, asOf: instant, style: style)
                if let old { unsigned.append(old) }
            }
            unsigned += life.statusUpdateNotifications(style: style).prefix(2).map(\.payload)
        }
    }
}

extension AppStoreVerifier {
    /// The result of verifying a payload that arrived at the corpus's instant.
    func fuzzed(
        _ payload: [UInt8],
        voucher: Voucher = .unvouched,
        context: EvidenceContext? = nil
    ) throws(Rejection) -> VerifiedPayload {
        try verify(
            payload: payload,
            source: "fuzz",
            receivedAt: FuzzCorpus.receivedAt,
            voucher: voucher,
            context: context
        )
    }
}
