internal import AppStore
public import Events

/// Apple's answer: the exact bytes, which are evidence, and where the answer continues.
public struct ServerAnswer: Sendable {
    /// The bytes as they arrived.
    public let payload: [UInt8]
    /// The environment that answered.
    public let environment: StoreEnvironment
    /// Where the next page begins, or where a later request continues: a revision or a pagination
    /// token; nil if there is none.
    public let continuation: String?
    /// Whether there is another page now.
    public let hasMore: Bool
    /// Signed statements in it; an answer without any means that there is nothing, or nothing new.
    public let statementCount: Int
    /// The token of a test notification that was requested; nil in other answers.
    public let testNotificationToken: String?

    /// The signed statements in a page of notifications or transactions, each as a separate
    /// payload; empty for other answers.
    var parts: [[UInt8]] {
        guard let root = JSON.root(of: payload) else { return [] }
        let notifications = (root["notificationHistory"]?.elements ?? []).compactMap { element in
            element["signedPayload"]?.utf8.map { compact in
                Array(#"{"signedPayload":""#.utf8) + compact + Array(#""}"#.utf8)
            }
        }
        let transactions = (root["signedTransactions"]?.elements ?? []).compactMap { element in
            element.utf8.map { Array($0) }
        }
        return notifications + transactions
    }

    /// Parses the form of an answer; verifies nothing.
    ///
    /// - Throws: `ServerError` with the code `answerUnreadable`.
    init(
        _ payload: [UInt8],
        to request: ServerRequest,
        in environment: StoreEnvironment
    ) throws(ServerError) {
        let form = try AnswerForm(payload, path: request.call.path)
        self.payload = payload
        self.environment = environment
        testNotificationToken = try form.text("testNotificationToken")

        switch request {
        case .transactionHistory, .refundHistory:
            statementCount = try form.count("signedTransactions", of: .string)
        case .order:
            statementCount = try form.count("signedTransactions", of: .string, isOptional: true)
        case .notificationHistory:
            statementCount = try form.count("notificationHistory", of: .object)
        case .subscriptionStatuses: statementCount = try form.statuses()
        case .transaction, .appTransaction, .testNotificationStatus:
            let names: [StaticString] = [
                "signedTransactionInfo", "signedAppTransactionInfo", "signedPayload",
            ]
            var count = 0
            for name in names where try form.text(name) != nil { count += 1 }
            statementCount = count
        case .groupMembers, .extensionStatus, .testNotification, .customerGroups, .seats:
            statementCount = 0
        }
        if let name = request.paging {
            hasMore = try form.flag("hasMore") ?? false
            continuation = try form.text(name)
        } else {
            (hasMore, continuation) = (false, nil)
        }
        if hasMore, continuation == nil {
            throw form.unreadable("there are more pages, and nothing names the next one")
        }
    }
}

/// The members of an answer, with their documented types.
private struct AnswerForm {
    private let root: JSON.Value
    private let path: String

    init(_ payload: [UInt8], path: String) throws(ServerError) {
        self.path = path
        let json: JSON
        do {
            json = try JSON(payload)
        } catch {
            throw AnswerForm.unreadable(
                path,
                "\(error.reason.rawValue) at byte \(error.offset) of \(payload.count)"
            )
        }
        guard json.root.kind == .object else {
            throw AnswerForm.unreadable(path, "it is not an object")
        }
        root = json.root
    }

    func unreadable(_ what: String) -> ServerError { AnswerForm.unreadable(path, what) }

    private static func unreadable(_ path: String, _ what: String) -> ServerError {
        ServerError(
            .answerUnreadable,
            "the answer of \(path) is not of the documented form: \(what). Nothing of it was taken"
        )
    }

    func text(_ name: StaticString) throws(ServerError) -> String? {
        guard let value = root[name], value.kind != .null else { return nil }
        guard let text = value.text else { throw unreadable("\(name) is not a string") }
        return text.isEmpty ? nil : text
    }

    func flag(_ name: StaticString) throws(ServerError) -> Bool? {
        guard let value = root[name], value.kind != .null else { return nil }
        guard let flag = value.boolean else { throw unreadable("\(name) is not true or false") }
        return flag
    }

    private func array(
        _ name: StaticString,
        of kind: JSON.Kind,
        _ object: JSON.Value,
        isOptional: Bool = false
    ) throws(ServerError) -> [JSON.Value] {
        guard let value = object[name], value.kind != .null else {
            if isOptional { return [] }
            throw unreadable("\(name) is missing")
        }
        guard value.kind == .array, value.elements.allSatisfy({ $0.kind == kind }) else {
            throw unreadable("\(name) is not a list of \(kind)s")
        }
        return value.elements
    }

    func count(
        _ name: StaticString,
        of kind: JSON.Kind,
        isOptional: Bool = false
    ) throws(ServerError) -> Int {
        try array(name, of: kind, root, isOptional: isOptional).count
    }

    func statuses() throws(ServerError) -> Int {
        var count = 0
        for group in try array("data", of: .object, root) {
            count += try array("lastTransactions", of: .object, group).count
        }
        return count
    }
}
