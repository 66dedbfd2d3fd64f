import Configuration
import Subledger

/// Settings by type.
extension CommandSettings {
    mutating func text(
        _ setting: Name,
        _ expected: String,
        default fallback: String
    ) throws -> String {
        try value(setting, [.string], expecting: expected, default: fallback) { content in
            if case .string(let text) = content, !text.isEmpty { text } else { nil }
        }
    }

    mutating func texts(
        _ setting: Name,
        _ expected: String,
        _ isValid: (String) -> Bool = { !$0.isEmpty }
    ) throws -> [String] {
        try value(setting, [.stringArray], expecting: "a list of " + expected, default: []) {
            content in
            // An empty list must not mean the same as no list, which for some settings allows
            // everything.
            if case .stringArray(let texts) = content, !texts.isEmpty, texts.allSatisfy(isValid) {
                texts
            } else {
                nil
            }
        }
    }

    mutating func time(_ setting: Name) throws -> String? {
        let expected = "a time: " + AskedTime.forms
        let text: String = try value(setting, [.string], expecting: expected, default: "") {
            content in
            if case .string(let text) = content, AskedTime(text) != nil { text } else { nil }
        }
        return text.isEmpty ? nil : text
    }

    mutating func flag(_ setting: Name) throws -> Bool {
        try value(setting, [.bool], expecting: "true or false", default: false) { content in
            if case .bool(let flag) = content { flag } else { nil }
        }
    }

    /// The milliseconds of a duration such as 15m.
    mutating func duration(_ setting: Name, default fallback: String) throws -> Int64 {
        let text = try value(
            setting,
            [.string],
            expecting: "a duration: 24h, 90m, 7d",
            default: fallback
        ) { content in
            if case .string(let text) = content, Clock.duration(text) != nil { text } else { nil }
        }
        return Clock.duration(text) ?? 0
    }

    /// The same, or a word that stands for no duration, which is the default: then nil.
    mutating func duration(_ setting: Name, or word: String) throws -> Int64? {
        let text = try value(
            setting,
            [.string],
            expecting: "\(word), or a duration: 24h, 90m, 7d",
            default: word
        ) { content in
            guard case .string(let text) = content else { return nil }
            return text == word || Clock.duration(text) != nil ? text : nil
        }
        return Clock.duration(text)
    }

    mutating func seconds(
        _ setting: Name,
        _ range: ClosedRange<Double>,
        default fallback: Double
    ) throws -> Double {
        let expected = "seconds from \(Int(range.lowerBound)) to \(Int(range.upperBound))"
        return try value(setting, [.double, .int], expecting: expected, default: fallback) {
            content in
            switch content {
            case .double(let seconds) where range.contains(seconds): seconds
            case .int(let seconds) where range.contains(Double(seconds)): Double(seconds)
            default: nil
            }
        }
    }

    mutating func word<Word: CaseIterable & RawRepresentable<String>>(
        _ setting: Name,
        default fallback: Word
    ) throws -> Word {
        let expected = Word.allCases.map(\.rawValue).joined(separator: ", ")
        return try value(setting, [.string], expecting: expected, default: fallback) { content in
            if case .string(let text) = content { Word(rawValue: text) } else { nil }
        }
    }
}
