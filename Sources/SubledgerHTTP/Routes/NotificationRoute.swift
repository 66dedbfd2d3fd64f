internal import AppStore
internal import EventLog
internal import Events
internal import HTTPTypes
internal import Hummingbird
internal import Subledger

/// The outcome of payloads that were sent.
struct TakenDocument: Encodable, Sendable {
    /// Facts that were appended as events.
    let appended: Int
    /// Facts that the log already contained.
    let duplicates: Int
    /// By lane number, the offset up to which the log contains the payloads; `minPosition` accepts
    /// each as `lane:offset`.
    let positions: [String: Int64]
    /// What was left out of accepted payloads, and why.
    let notices: [Notice]

    /// A notice for the operator about an accepted payload.
    struct Notice: Encodable, Sendable {
        /// The machine-readable kind of the notice.
        let notice: String
        /// What was left out, or accepted with a reservation.
        let message: String
    }

    init(_ ingestions: [Ledger.Ingestion], links: [Position] = []) {
        let outcomes = ingestions.flatMap(\.outcomes)
        appended = outcomes.count(where: \.isNew)
        duplicates = outcomes.count { !$0.isNew && !$0.isErased }
        positions = PositionVector(outcomes.map(\.position) + links).document
        notices = ingestions.flatMap(\.notices).map {
            Notice(notice: $0.code.rawValue, message: $0.message)
        }
    }
}

extension PositionVector {
    fileprivate init(_ positions: [Position]) {
        self.init(Dictionary(positions.map { ($0.lane.number, $0.offset) }) { max($0, $1) })
    }
}

extension LedgerRoutes {
    /// The channel stored with payloads from this route.
    static let notificationSource = "notification"

    /// `POST /v1/appstore/notifications`: what Apple sends.
    ///
    /// Answers 200 only when the payload is durable. Apple sends again after any other status: a
    /// payload that can never be accepted gets 400 and is kept among the rejections, one that can
    /// be accepted later gets 503. The route needs no token, so anything other than a notification
    /// is refused and not kept, and addresses that send nothing that Apple signed have limits.
    func addNotifications(to router: some RouterMethods<some RequestContext>) {
        on(.post, "/v1/appstore/notifications", of: router, for: nil) { call in
            let ticket: SenderLimits.Ticket
            do throws(SenderLimits.Limit) {
                ticket = try senders.begin(call.address)
            } catch {
                metrics.count(error)
                throw Problem(error)
            }
            var outcome = SenderLimits.Outcome.undecided
            defer { senders.end(ticket, outcome) }
            do {
                let response = try await withBody(
                    of: call,
                    upTo: limits.notificationByteCountMax
                ) { try await takeNotification($0, inTurn: ticket.waitsForTurn) }
                outcome = .accepted
                return response
            } catch {
                if Problem(error).status.kind == .clientError { outcome = .refused }
                throw error
            }
        }
    }

    private func takeNotification(_ body: [UInt8], inTurn: Bool) async throws -> Response {
        try LedgerRoutes.checkIsNotification(body)
        let receivedAt = clock()
        do {
            // What is refused is also recorded in turn: a flood must not queue for the database.
            if inTurn, try await !passes(body, receivedAt) {
                let secondsMax = limits.strangerTurnSecondsMax
                _ = try await state.strangers.inTurn(.recording, within: secondsMax) {
                    try await ingest(body, receivedAt)
                }
            }
            let taken = try await ingest(body, receivedAt)
            try await forward?(body, taken)
            count(taken, source: LedgerRoutes.notificationSource, at: receivedAt)
            return try Response.json(TakenDocument([taken]))
        } catch let rejection as Rejection {
            metrics.count(rejection, source: LedgerRoutes.notificationSource)
            throw rejection
        }
    }

    private func passes(_ body: [UInt8], _ receivedAt: Instant) async throws -> Bool {
        try await state.strangers.inTurn(.verifying, within: limits.strangerTurnSecondsMax) {
            do throws(Rejection) {
                _ = try ledger.verifier.verify(
                    payload: body,
                    source: LedgerRoutes.notificationSource,
                    receivedAt: receivedAt
                )
                return true
            } catch {
                return false
            }
        }
    }

    private func ingest(
        _ body: [UInt8],
        _ receivedAt: Instant
    ) async throws -> Ledger.Ingestion {
        try await ledger.ingest(
            body,
            source: LedgerRoutes.notificationSource,
            receivedAt: receivedAt,
            sender: .unproven
        )
    }

    private static func checkIsNotification(_ body: [UInt8]) throws(Problem) {
        do throws(JSON.Failure) {
            let root = try JSON(body).root
            if root["signedPayload"] != nil || root["notification_type"] != nil { return }
        } catch {
            // Refused with the same problem as below.
        }
        throw Problem(
            .badRequest,
            "not-a-notification",
            "The body is not an App Store Server Notification: it has neither signedPayload "
                + "(version 2) nor notification_type (version 1). Send transactions to "
                + "/v1/transactions."
        )
    }
}
