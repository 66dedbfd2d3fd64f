import CommandSupport
import Configuration
import Subledger

/// Settings by type.
extension CommandSettings {
    mutating func text(
        _ setting: Setting,
        _ expected: String,
        default fallback: String
    ) throws -> String {
        try value(setting, [.string], expecting: expected, default: fallback) { content in
            if case .string(let text) = content, !text.isEmpty { text } else { nil }
        }
    }

    /// The same for a setting without a default: nil if no source has it.
    mutating func text(_ setting: Setting, _ expected: String) throws -> String? {
        let text = try text(setting, expected, default: "")
        return text.isEmpty ? nil : text
    }

    mutating func texts(
        _ setting: Setting,
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

    mutating func time(_ setting: Setting) throws -> String? {
        let expected = "a time: " + AskedTime.forms
        let text: String = try value(setting, [.string], expecting: expected, default: "") {
            content in
            if case .string(let text) = content, AskedTime(text) != nil { text } else { nil }
        }
        return text.isEmpty ? nil : text
    }

    mutating func number(
        _ setting: Setting,
        _ unit: String,
        _ range: ClosedRange<Int>,
        default fallback: Int
    ) throws -> Int {
        let expected = "\(unit) from \(range.lowerBound) to \(range.upperBound)"
        return try value(setting, [.int], expecting: expected, default: fallback) { content in
            if case .int(let number) = content, range.contains(number) { number } else { nil }
        }
    }

    mutating func flag(_ setting: Setting) throws -> Bool {
        try value(setting, [.bool], expecting: "true or false", default: false) { content in
            if case .bool(let flag) = content { flag } else { nil }
        }
    }

    /// The milliseconds of a duration such as 15m.
    mutating func duration(_ setting: Setting, default fallback: String) throws -> Int64 {
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
    mutating func duration(_ setting: Setting, or word: String) throws -> Int64? {
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
        _ setting: Setting,
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
        _ setting: Setting,
        default fallback: Word
    ) throws -> Word {
        let expected = Word.allCases.map(\.rawValue).joined(separator: ", ")
        return try value(setting, [.string], expecting: expected, default: fallback) { content in
            if case .string(let text) = content { Word(rawValue: text) } else { nil }
        }
    }

    /// The address and the port at which `serve` listens.
    mutating func place() throws -> (host: String, port: Int) {
        (
            try text(.host, "an address", default: "127.0.0.1"),
            try number(.port, "a number", 0...65_535, default: 8080)
        )
    }

    /// The location of the database.
    mutating func database(_ options: DatabaseOptions) throws -> DatabaseOptions {
        var options = options
        options.databaseUrl = try text(.databaseUrl, "a libpq connection string")
        return options
    }
}
