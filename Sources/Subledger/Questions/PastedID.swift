internal import EventLog
internal import Events

extension Ledger {
    /// Asks a question about an id as somebody pasted it: as written first, and if nothing has that
    /// id, without what surrounds it, as a UUID with hyphens, and as a customer's name in another
    /// case.
    ///
    /// - Parameters:
    ///   - subject: Who or what is asked about.
    ///   - question: The question.
    /// - Returns: The answer, and the id that it is about; nil if that is the id as written.
    /// - Throws: What the question throws for the id as written; `QuestionError` if several
    ///   customers' names differ from it only in case.
    package func asking<Answer>(
        _ subject: SubjectID,
        _ question: (SubjectID) async throws -> Answer
    ) async throws -> (answer: Answer, readAs: String?) {
        do {
            return (try await question(subject), nil)
        } catch let unknown as QuestionError where unknown.code == .unknownId {
            for id in try await spellings(of: subject.id) {
                var other = subject
                other.id = id
                do {
                    return (try await question(other), id)
                } catch let error as QuestionError where error.code == .unknownId {}
            }
            throw unknown
        }
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
    fileprivate var withoutSurroundings: String {
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
