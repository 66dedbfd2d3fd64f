internal import AppStore
internal import EventLog
internal import Events
internal import HTTPTypes
internal import Hummingbird
internal import Subledger

/// What became of payloads that were sent.
struct TakenDocument: Codable, Hashable, Sendable {
    /// Facts that are events now.
    let appended: Int
    /// Facts that the log knew already.
    let duplicates: Int
    /// Up to where the log says what the payloads say, by the lane's number; `minPosition` takes
    /// each as `lane:offset`.
    let positions: [String: Int64]
    /// What was left out of payloads that were taken, and why.
    let notices: [Notice]

    /// What a person should know of a payload that was taken.
    struct Notice: Codable, Hashable, Sendable {
        /// What it is about, as a word of the machine.
        let notice: String
        /// What was left out of it, or taken with a reservation.
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
        self.init(Dictionary(positions.map { ($0.lane, $0.offset) }) { max($0, $1) })
    }
}

extension LedgerRoutes {
    /// The channel that is kept with what comes by this route.
    static let notificationSource = "notification"

    /// `POST /v1/appstore/notifications`: what Apple sends.
    ///
    /// 200 only when it is durable. Apple sends again after any other status, so that what can
    /// never be taken gets 400 and is kept among the rejections, and 503 what can be taken later.
    /// The route needs no token, so that whatever is no notification is refused and not kept.
    func addNotifications(to router: some RouterMethods<some RequestContext>) {
        on(.post, "/v1/appstore/notifications", of: router, for: nil) { call in
            try await withBody(of: call, upTo: limits.notificationByteCountMax) { body in
                try LedgerRoutes.checkIsNotification(body)
                let receivedAt = clock()
                do {
                    let taken = try await ledger.ingest(
                        body,
                        source: LedgerRoutes.notificationSource,
                        receivedAt: receivedAt
                    )
                    metrics.count(taken, source: LedgerRoutes.notificationSource, at: receivedAt)
                    lateness.take(taken, at: receivedAt)
                    return try Response.json(TakenDocument([taken]))
                } catch let rejection as Rejection {
                    metrics.count(rejection, source: LedgerRoutes.notificationSource)
                    throw rejection
                }
            }
        }
    }

    private static func checkIsNotification(_ body: [UInt8]) throws(Problem) {
        do throws(JSON.Failure) {
            let root = try JSON(body).root
            if root["signedPayload"] != nil || root["notification_type"] != nil { return }
        } catch {
            // Refused like all else.
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
