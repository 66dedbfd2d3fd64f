internal import EventLog
internal import Events

extension Ledger {
    /// The subject that an id means, as somebody pasted it into a command.
    ///
    /// An id that the ledger has is taken as it is written. Otherwise what surrounds it is left
    /// out, a UUID gets its hyphens, and a customer's name is found in another case; last, it may be
    /// the order id of an invoice. That reads the name of every link, and Apple does not sign the
    /// subscriptions of an order, so it is for people and not for requests of an app.
    ///
    /// - Parameter subject: Who or what is asked about, as written.
    /// - Returns: The subject by an id that the ledger has; as written if it has none of them.
    /// - Throws: `QuestionError` if several customers' names differ from it only in case, or if it
    ///   is an order of several subscriptions; `EventLogError`.
    package func recognised(_ subject: SubjectID) async throws -> SubjectID {
        guard try await !isKnown(subject.id) else { return subject }
        for id in try await spellings(of: subject.id) where try await isKnown(id) {
            var other = subject
            other.id = id
            return other
        }
        return try await subscription(ofOrder: subject) ?? subject
    }

    // By its own id, so that the answer rests on the log alone.
    private func subscription(ofOrder subject: SubjectID) async throws -> SubjectID? {
        guard let order = OrderID(subject.id.withoutSurroundings) else { return nil }
        let streams = try await log.streams(of: order).filter { stream in
            subject.environment.map { $0 == stream.environment } ?? true
        }
        let ids = streams.map(\.originalTransactionId)
        guard ids.count <= 1 else {
            throw QuestionError(
                .severalSubscriptions,
                "the order \(order.text) has \(ids.count) subscriptions; ask about one of them: "
                    + ids.joined(separator: ", "),
                subscriptions: ids
            )
        }
        return streams.first.map { stream in
            var other = subject
            (other.id, other.environment) = (stream.originalTransactionId, stream.environment)
            return other
        }
    }

    private func isKnown(_ id: String) async throws -> Bool {
        guard try await log.environments(of: id).isEmpty else { return true }
        return try await !environments(ofCustomer: id).isEmpty
    }

    // Other spellings of a pasted id, the likeliest first.
    private func spellings(of id: String) async throws -> [String] {
        let bare = id.withoutSurroundings
        let customers = try await log.customers(spelledLike: bare)
        guard customers.count <= 1 else {
            throw QuestionError(
                .ambiguousId,
                "no customer is named \(bare), and several names differ from it only in case: "
                    + customers.joined(separator: ", ")
            )
        }
        return ([bare] + [bare.asUUID].compactMap { $0 } + customers)
            .filter { !$0.isEmpty && !$0.utf8.elementsEqual(id.utf8) }
    }
}

extension String {
    /// The text without the white space, quotation marks, brackets, number signs and punctuation
    /// that surround an id in a message.
    var withoutSurroundings: String {
        let marks: Set<Character> = [
            "\"", "'", "`", "“", "”", "„", "‘", "’", "«", "»", "{", "}", "[", "]", "(", ")", "<",
            ">", "#", ",", ";", ":", ".", "!", "?",
        ]
        func surrounds(_ character: Character) -> Bool {
            character.isWhitespace || marks.contains(character)
        }
        return String(drop(while: surrounds).reversed().drop(while: surrounds).reversed())
    }

    /// 32 hexadecimal digits with the hyphens of a UUID, in lower case; nil for any other text.
    fileprivate var asUUID: String? {
        let digits = Array(lowercased().filter { $0 != "-" })
        guard digits.count == 32, digits.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
            return nil
        }
        let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
        return groups.joined(separator: "-")
    }
}
