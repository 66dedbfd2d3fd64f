internal import Events
internal import Synchronization

/// Stands in for the ids of people in the answers of one conversation: customer ids, app account
/// tokens and what else identifies an account.
///
/// A stand-in is the same in every answer, and an agent can ask with it.
final class PersonalIDs: Sendable {
    private struct State {
        var standIns: [String: String] = [:]
        var ids: [String: String] = [:]
    }

    private let state = Mutex(State())

    private static let prefix = "personal-id-"
    /// The members of documents with such ids, and the fields that an erasure of a person removes.
    private static let members = Set([
        "customer", "customers", "contests", "appAccountTokens", "joinedTokens", "appTransactionId",
    ]).union(Field.allCases.filter { Field.isOfPerson(tag: $0.rawValue) }.map { "\($0)" })
    /// What `because` or `name` is next to such a value.
    private static let kinds = members.union(["link", "linkAtOtherTime"])
    /// What an operator wrote about a link.
    private static let words: Set = ["by", "reason"]

    /// The id that a stand-in means; any other text as it is.
    func id(_ text: String) -> String { state.withLock { $0.ids[text] } ?? text }

    /// All ids of people in a document.
    ///
    /// - Parameters:
    ///   - tree: The document.
    ///   - asked: The id that was asked for, which documents repeat as that of a customer.
    /// - Returns: The ids.
    static func ids(in tree: JSONTree, except asked: String? = nil) -> Set<String> {
        switch tree {
        case .list(let values):
            return values.reduce(into: []) { $0.formUnion(ids(in: $1, except: asked)) }
        case .object(let object):
            let kind = (object["because"] ?? object["name"])?.text
            let hasPersonalValue = kind.map(kinds.contains) ?? false
            var found: Set<String> = []
            for (name, value) in object {
                let isPersonal =
                    members.contains(name) || name == "value" && hasPersonalValue
                    || words.contains(name) && object["isContested"] != nil
                found.formUnion(isPersonal ? texts(value) : [])
                found.formUnion(ids(in: value, except: asked))
            }
            return found.subtracting([asked].compactMap { $0 })
        case .null, .flag, .integer, .number, .text: return []
        }
    }

    private static func texts(_ value: JSONTree) -> [String] {
        switch value {
        case .text(let text) where !text.isEmpty: [text]
        case .list(let values): values.flatMap(texts)
        default: []
        }
    }

    /// A document with stand-ins for these ids, those of earlier answers, and every UUID.
    func hiding(_ ids: Set<String>, in tree: JSONTree) -> JSONTree {
        switch tree {
        case .text(let text): return .text(hiding(ids, in: text))
        case .list(let values): return .list(values.map { hiding(ids, in: $0) })
        case .object(var members):
            // Sorted, so that the same questions get the same stand-ins.
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                members[name] = hiding(ids, in: value)
            }
            return .object(members)
        case .null, .flag, .integer, .number: return tree
        }
    }

    /// A text with stand-ins for these ids, where they are whole words, and for every UUID.
    func hiding(_ ids: Set<String>, in text: String) -> String {
        if ids.contains(text) || state.withLock({ $0.standIns[Self.key(text)] }) != nil {
            return standIn(text)
        }
        var hidden = text
        if text.utf8.count >= 36, text.contains("-") {
            let uuid = /[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}/
            hidden = hidden.replacing(uuid) { standIn(String($0.0)) }
        }
        // Longer ones first, because an id may be part of another.
        for id in ids.sorted(by: { ($1.count, $0) < ($0.count, $1) }) where hidden.contains(id) {
            hidden = hidden.replacingWord(id, with: standIn(id))
        }
        return hidden
    }

    /// A text with stand-ins for all ids that have one.
    func hidingAll(in text: String) -> String {
        hiding(Set(state.withLock { $0.ids.values.map { $0 } }), in: text)
    }

    private func standIn(_ id: String) -> String {
        state.withLock { state in
            if let known = state.standIns[Self.key(id)] { return known }
            let new = "\(Self.prefix)\(state.standIns.count + 1)"
            state.standIns[Self.key(id)] = new
            state.ids[new] = id
            return new
        }
    }

    // A token has the same stand-in in any letter case.
    private static func key(_ id: String) -> String {
        id.utf8.count == 36 && id.contains("-") ? id.lowercased() : id
    }
}

extension String {
    /// Replaces a text where no letter or digit is next to it.
    fileprivate func replacingWord(_ word: String, with other: String) -> String {
        func isPart(_ character: Character?) -> Bool {
            character.map { $0.isLetter || $0.isNumber } ?? false
        }
        var (result, rest) = ("", self[...])
        while let range = rest.firstRange(of: word) {
            let (before, after) = (self[..<range.lowerBound].last, self[range.upperBound...].first)
            result += rest[..<range.lowerBound]
            result += isPart(before) || isPart(after) ? word : other
            rest = rest[range.upperBound...]
        }
        return result + rest
    }
}
