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
        // Apple counts in days; whoever asks for the whole span need not be exact to the second.
        let oldest = now.milliseconds - retention - 86_400_000
        guard question.startDate.milliseconds >= oldest else { throw .startTooFarInPast }
        let wantedLife = question.transactionId.map { life(of: $0, at: now) }
        if case .some(nil) = wantedLife { throw .transactionNotFound }
        let first = try position(of: token, question)
        var found: [Int] = []
        var next: Int?
        for number in first..<notifications.count {
            let sending = notifications[number]
            guard sending.signedAt <= now, sending.signedAt < question.endDate else { break }
            guard sending.signedAt >= question.startDate,
                wantedLife == nil || wantedLife == sending.life,
                question.onlyFailures != true || !journal.hasArrived(number)
            else { continue }
            if found.count == Self.pageMax {
                next = number
                break
            }
            found.append(number)
        }
        return NotificationHistoryDocument(
            notificationHistory: found.map(item),
            paginationToken: next.map { tokenText($0, question) },
            hasMore: next != nil
        )
    }

    private func item(_ number: Int) -> NotificationHistoryDocument.Item {
        NotificationHistoryDocument.Item(
            signedPayload: ServedStore.signedPayload(in: body(of: notifications[number])),
            sendAttempts: journal.attempts(of: number)
        )
    }

    // The body is {"signedPayload":"…"}, as the simulator writes it.
    static func signedPayload(in body: [UInt8]) -> String {
        String(
            decoding: body.dropFirst(#"{"signedPayload":""#.utf8.count).dropLast(2),
            as: UTF8.self
        )
    }

    // A token is of one question: with another one it is refused.
    private func tokenText(_ position: Int, _ question: NotificationQuestion) -> String {
        "\(position)_\(question.startDate.milliseconds)_\(question.endDate.milliseconds)"
    }

    private func position(
        of token: String?,
        _ question: NotificationQuestion
    ) throws(StoreError) -> Int {
        guard let token else {
            return notifications.firstIndex { $0.signedAt >= question.startDate }
                ?? notifications.count
        }
        guard let position = token.split(separator: "_").first.flatMap({ Int($0) }),
            notifications.indices.contains(position), token == tokenText(position, question)
        else { throw .invalidPaginationToken }
        return position
    }
}
