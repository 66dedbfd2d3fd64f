import Foundation

@testable import AppStore

/// The meaning of a text in Foundation's JSONSerialization, compared with ours.
enum JSONOracle {
    enum Verdict {
        case bothAccept
        case bothRefuse
        /// We are stricter on purpose here, or Foundation cannot distinguish the cases.
        case knownDifference
        case disagree(String)
    }

    static func judge(_ bytes: [UInt8]) -> Verdict {
        let ours = Result { try JSON(bytes).root }
        // Foundation also reads UTF-16 and UTF-32, which it recognises by zero bytes or a byte
        // order mark; we refuse both.
        if bytes.contains(0) || bytes.starts(with: [0xef, 0xbb, 0xbf])
            || bytes.starts(with: [0xff, 0xfe]) || bytes.starts(with: [0xfe, 0xff])
        {
            if case .success = ours { return .disagree("accepted with a zero byte or a mark") }
            return .knownDifference
        }
        let oracle = Result {
            try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
        }
        switch (ours, oracle) {
        case (.success(let root), .success(let object)):
            if agree(root, object) { return .bothAccept }
            return hasEquivalentNames(root) ? .knownDifference : .disagree("another meaning")
        case (.success, .failure(let error)):
            // Foundation makes every number a Double; we keep its text.
            return String(describing: error).contains("not representable")
                ? .knownDifference : .disagree("accepted: \(error)")
        case (.failure(let error as JSON.Failure), .success):
            let stricter: [JSON.Reason] = [.duplicateName, .tooDeep, .numberTooLong]
            return stricter.contains(error.reason) || isTrailingComma(error, in: bytes)
                ? .knownDifference : .disagree("refused: \(error)")
        case (.failure, _): return .bothRefuse
        }
    }

    // Foundation accepts a comma before a closing brace or bracket; RFC 8259 does not.
    private static func isTrailingComma(_ failure: JSON.Failure, in bytes: [UInt8]) -> Bool {
        let closing = [UInt8(ascii: "}"), UInt8(ascii: "]")]
        guard failure.reason == .unexpectedByte, closing.contains(bytes[failure.offset]) else {
            return false
        }
        return bytes[..<failure.offset].last { !Envelope.isWhitespace($0) } == UInt8(ascii: ",")
    }

    /// Whether a value means the same as in Foundation.
    static func agree(_ value: JSON.Value, _ oracle: Any) -> Bool {
        switch value.kind {
        case .null: oracle is NSNull
        case .true, .false: (oracle as? Bool) == value.boolean
        case .number: agree(number: value, oracle as? NSNumber)
        case .string: (oracle as? String).map { Array($0.utf8) } == value.utf8.map { Array($0) }
        case .array: agree(elements: value.elements, oracle as? [Any])
        case .object: agree(members: value.members, oracle as? [String: Any])
        }
    }

    // Foundation goes through a decimal, which is rounded once more when it becomes a Double.
    private static func agree(number: JSON.Value, _ oracle: NSNumber?) -> Bool {
        guard let oracle = oracle?.doubleValue,
            let ours = Double(String(decoding: number.bytes, as: UTF8.self))
        else { return false }
        return abs(ours - oracle) <= abs(ours) * 1e-14
    }

    private static func agree(elements: [JSON.Value], _ oracle: [Any]?) -> Bool {
        guard let oracle, oracle.count == elements.count else { return false }
        return zip(elements, oracle).allSatisfy { agree($0, $1) }
    }

    private static func agree(members: JSON.Members, _ oracle: [String: Any]?) -> Bool {
        guard let oracle, oracle.count == members.count else { return false }
        return members.allSatisfy { member in
            guard let name = member.name.text, let other = oracle[name] else { return false }
            return agree(member.value, other)
        }
    }

    // Swift's String, and so Foundation's dictionary, treats canonically equivalent Unicode names
    // as one name.
    private static func hasEquivalentNames(_ value: JSON.Value) -> Bool {
        let names = value.members.compactMap(\.name.text)
        return Set(names).count < names.count
            || value.members.contains { hasEquivalentNames($0.value) }
            || value.elements.contains { hasEquivalentNames($0) }
    }
}
