internal import AppStoreSimulator
internal import Events
internal import Foundation

/// The body of Get Notification History.
struct NotificationQuestion: Decodable {
    let startDate: Instant
    let endDate: Instant
    let transactionId: String?
    let onlyFailures: Bool?
}

/// Get Notification History.
struct NotificationHistoryDocument: Encodable {
    let notificationHistory: [Item]
    let paginationToken: String?
    let hasMore: Bool

    /// A notification and how it was sent.
    struct Item: Encodable {
        let signedPayload: String
        let sendAttempts: [SendAttempt]
    }
}

extension ServedStore {
    /// Notifications of a page.
    private static let pageMax = 20
    /// How long notifications are kept.
    private var retention: Int64 {
        (environment == .sandbox ? 30 : 180) * 86_400_000
    }

    /// Get Notification History.
    func notificationHistory(
        _ question: NotificationQuestion,
        page token: String?,
        at now: Instant
    ) throws(StoreError) -> NotificationHistoryDocument {
        guard question.startDate < question.endDate else { throw .startAfterEnd }
        guard question.startDate.milliseconds >= now.milliseconds - retention else {
            throw .startTooFarInPast
        }
        let wantedLife = question.transactionId.map { life(of: $0, at: now) }
        if case .some(nil) = wantedLife { throw .transactionNotFound }

        let notifications = notifications
        let first = try position(of: token, question, in: notifications)
        var found: [Sending] = []
        var next: Sending?
        for sending in notifications[first...] {
            guard sending.signedAt <= now, sending.signedAt < question.endDate else { break }
            guard sending.signedAt >= question.startDate,
                wantedLife == nil || wantedLife == sending.life,
                question.onlyFailures != true || !journal.hasArrived(sending)
            else { continue }
            if found.count == Self.pageMax {
                next = found.last
                break
            }
            found.append(sending)
        }

        return NotificationHistoryDocument(
            notificationHistory: found.map(item),
            paginationToken: next.map { tokenText($0, question) },
            hasMore: next != nil
        )
    }

    private func item(_ sending: Sending) -> NotificationHistoryDocument.Item {
        NotificationHistoryDocument.Item(
            signedPayload: ServedStore.signedPayload(in: body(of: sending)),
            sendAttempts: journal.attempts(of: sending)
        )
    }

    // The body is {"signedPayload":"…"}, as the simulator writes it.
    static func signedPayload(in body: [UInt8]) -> String {
        String(
            decoding: body.dropFirst(#"{"signedPayload":""#.utf8.count).dropLast(2),
            as: UTF8.self
        )
    }

    // A token contains the last notification of its page and belongs to one question: with another
    // question it is refused.
    private func tokenText(_ last: Sending, _ question: NotificationQuestion) -> String {
        [
            last.signedAt.milliseconds, Int64(last.life), Int64(last.number),
            question.startDate.milliseconds, question.endDate.milliseconds,
        ].map(String.init).joined(separator: "_")
    }

    private func position(
        of token: String?,
        _ question: NotificationQuestion,
        in notifications: [Sending]
    ) throws(StoreError) -> Int {
        guard let token else {
            return notifications.firstIndex { $0.signedAt >= question.startDate }
                ?? notifications.count
        }
        let parts = token.split(separator: "_").compactMap { Int64($0) }
        guard parts.count == 5 else { throw .invalidPaginationToken }
        let last = Sending(
            signedAt: Instant(milliseconds: parts[0]),
            life: Int(parts[1]),
            number: Int(parts[2])
        )
        guard token == tokenText(last, question) else { throw .invalidPaginationToken }
        return notifications.firstIndex(after: last)
    }
}
