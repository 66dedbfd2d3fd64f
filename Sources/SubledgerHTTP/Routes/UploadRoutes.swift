internal import AppStore
internal import EventLog
internal import Events
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Projections
internal import Subledger

/// The body of an upload.
private protocol Upload: Decodable {
    /// A body with every member, as an example.
    static var example: String { get }
    /// The names of the members.
    static var members: Set<String> { get }
}

/// An app's upload: signed transactions, and their customer.
private struct TransactionUpload: Upload {
    /// JWS from StoreKit 2.
    let signedTransactions: [String]
    /// The app's own id for the customer; nil if the app gives none.
    let customerId: String?

    static let example = #"{"signedTransactions": ["eyJ…"], "customerId": "…"}"#
    static let members: Set = ["signedTransactions", "customerId"]
}

/// An app's upload: its receipt, and the customer.
private struct ReceiptUpload: Upload {
    /// The receipt in base64.
    let receipt: String
    /// The app's own id for the customer; nil if the app gives none.
    let customerId: String?

    static let example = #"{"receipt": "MII…", "customerId": "…"}"#
    static let members: Set = ["receipt", "customerId"]
}

/// The outcome of an upload, and the owners of the subscriptions.
struct UploadDocument: Encodable, Sendable {
    /// What was accepted.
    let taken: TakenDocument
    /// The payloads that were refused, by their number in the upload, from 0.
    let rejections: [Refusal]
    /// Every subscription that the payloads are about, with its owner.
    let subscriptions: [Owned]

    /// A payload that was refused.
    struct Refusal: Encodable, Sendable {
        /// Its number in the upload, from 0.
        let index: Int
        /// The machine-readable reason.
        let reason: String
        /// Why, and what to do.
        let message: String
    }

    /// A subscription and its owner.
    struct Owned: Encodable, Sendable {
        /// Its id.
        let originalTransactionId: String
        /// Where it was bought.
        let environment: StoreEnvironment
        /// The customer who has it; nil if none is known.
        let customerId: String?
        /// Whether this customer differs from the one in the upload; then nothing was linked.
        let isOfAnother: Bool
        /// Why nothing was linked although no other customer has it: `name-is-id` for a customer id
        /// that is also the id of another subscription, `erased`, `unknown-stream`.
        let refusal: String?
    }
}

extension LedgerRoutes {
    static let clientSource = "client"

    /// `POST /v1/transactions` and `POST /v1/receipts`: uploads from the app's clients.
    func addUploads(to router: some RouterMethods<some RequestContext>) {
        on(.post, "/v1/transactions", of: router, for: .ingest) { call in
            try call.check([])
            return try await withBody(of: call, upTo: limits.uploadByteCountMax) { body in
                let upload = try LedgerRoutes.read(TransactionUpload.self, body)
                guard (1...limits.uploadPayloadsMax).contains(upload.signedTransactions.count)
                else {
                    throw Problem(
                        .badRequest,
                        "body",
                        "signedTransactions has \(upload.signedTransactions.count) elements; "
                            + "expected 1 to \(limits.uploadPayloadsMax)."
                    )
                }
                let payloads = upload.signedTransactions.map { Array($0.utf8) }
                return try await take(payloads, of: upload.customerId, by: call)
            }
        }
        on(.post, "/v1/receipts", of: router, for: .ingest) { call in
            try call.check([])
            return try await withBody(of: call, upTo: limits.uploadByteCountMax) { body in
                let upload = try LedgerRoutes.read(ReceiptUpload.self, body)
                return try await take([Array(upload.receipt.utf8)], of: upload.customerId, by: call)
            }
        }
    }

    // A misspelt customerId must not lose the link silently.
    private static func read<Body: Upload>(_ type: Body.Type, _ body: [UInt8]) throws -> Body {
        let (decoder, data) = (JSONDecoder(), Data(body))
        do {
            let upload = try decoder.decode(type, from: data)
            let names = try decoder.decode([String: Ignored].self, from: data).keys
            guard let unknown = names.sorted().first(where: { !type.members.contains($0) }) else {
                return upload
            }
            throw Problem(
                .badRequest,
                "body",
                "The body has a member \"\(unknown.prefix(64))\"; expected the form "
                    + "\(type.example)."
            )
        } catch is DecodingError {
            throw Problem(.badRequest, "body", "The body does not have the form \(type.example).")
        }
    }

    /// A member of which only the name matters.
    private struct Ignored: Decodable {
        init(from decoder: any Decoder) {}
    }

    private func take(
        _ payloads: [[UInt8]],
        of customer: String?,
        by call: Call
    ) async throws -> Response {
        let receivedAt = clock()
        if let customer {
            try CustomerLink.check(customer: customer)
            try await audit(call, "upload", about: customer)
        }
        var (taken, refused): ([Ledger.Ingestion], [UploadDocument.Refusal]) = ([], [])
        for (index, payload) in payloads.enumerated() {
            do {
                let ingestion = try await ledger.ingest(
                    payload,
                    source: LedgerRoutes.clientSource,
                    receivedAt: receivedAt
                )
                count(ingestion, source: LedgerRoutes.clientSource, at: receivedAt)
                taken.append(ingestion)
            } catch let rejection as Rejection {
                metrics.count(rejection, source: LedgerRoutes.clientSource)
                guard payloads.count > 1 else { throw rejection }
                refused.append(
                    UploadDocument.Refusal(
                        index: index,
                        reason: rejection.code.rawValue,
                        message: rejection.message
                    )
                )
            }
        }
        let streams = Set(taken.flatMap(\.facts).map(\.stream))
            .filter { !$0.originalTransactionId.isEmpty }
            .sorted { $0.originalTransactionId < $1.originalTransactionId }
        var (owned, links): ([UploadDocument.Owned], [Position]) = ([], [])
        for stream in streams {
            // One after the other: the first to claim a subscription has it, and the next is
            // informed.
            let (mine, positions) = try await state.claims.inTurn(
                stream,
                within: limits.answerSecondsMax
            ) {
                try await own(stream, customer, call, at: receivedAt)
            }
            owned.append(mine)
            links += positions
        }
        return try Response.json(
            UploadDocument(
                taken: TakenDocument(taken, links: links),
                rejections: refused,
                subscriptions: owned
            )
        )
    }

    private func owner(of stream: StreamID, at instant: Instant) async throws -> String? {
        let claims = StreamClaims(
            Timeline(try await reading { try await ledger.log.history(of: stream) })
        )
        guard case .customer(let customer)? = claims.owner(at: instant) else { return nil }
        return customer
    }

    // The app states the owner of a subscription; if another customer has it, it stays theirs.
    private func own(
        _ stream: StreamID,
        _ customer: String?,
        _ call: Call,
        at instant: Instant
    ) async throws -> (UploadDocument.Owned, links: [Position]) {
        func owned(by holder: String?, refusal: String? = nil) -> UploadDocument.Owned {
            UploadDocument.Owned(
                originalTransactionId: stream.originalTransactionId,
                environment: stream.environment,
                customerId: holder,
                isOfAnother: holder.flatMap { holder in
                    customer.map { !areSameBytes(holder, $0) }
                } ?? false,
                refusal: refusal
            )
        }
        guard let customer else {
            return (owned(by: try await owner(of: stream, at: instant)), [])
        }

        let start = try await reading {
            try await ledger.linkStart(of: stream, for: customer, now: instant)
        }
        let outcome = try await ledger.add(
            CustomerLink(
                stream: stream,
                customer: customer,
                statedBy: call.caller ?? "",
                reason: "upload",
                statedAt: start
            ),
            receivedAt: instant
        )

        switch outcome {
        case .held(let hold): return (owned(by: hold.customer), [])
        case .appended(let found):
            // Another process may have linked it at the same time.
            return (owned(by: try await owner(of: stream, at: instant) ?? customer), found)
        case .duplicate(let found, _): return (owned(by: customer), [found])
        case .nameIsId: return (owned(by: nil, refusal: "name-is-id"), [])
        case .erased: return (owned(by: nil, refusal: "erased"), [])
        case .unknownStream, .notLinked: return (owned(by: nil, refusal: "unknown-stream"), [])
        }
    }
}
