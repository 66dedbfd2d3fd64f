internal import Foundation
internal import HTTPTypes

/// The fields of a form, from an address or a body.
struct FormFields: ParameterSource {
    private let values: [String: String]

    /// The most bytes of a form.
    static let byteCountMax = 4096

    /// Parses `name=value&…`; what is empty counts as absent.
    init(_ text: String) throws {
        var values: [String: String] = [:]
        for field in text.split(separator: "&") {
            let parts = field.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { continue }
            let decoded = parts.map {
                $0.replacing("+", with: " ").removingPercentEncoding
            }
            guard let name = decoded[0], let value = decoded[1], !value.utf8.contains(0) else {
                throw Problem(query: "A field of the form is not UTF-8 text.")
            }
            guard values[name] == nil else {
                throw Problem(query: "\(name.prefix(64)) is given more than once; give it once.")
            }
            let trimmed = value.trimmingCharacters(in: .whitespacesAndNewlines)
            values[name] = trimmed.isEmpty ? nil : trimmed
        }
        self.values = values
    }

    subscript(name: String) -> String? { values[name] }

    var names: [String] { values.keys.sorted() }

    func query(_ name: QueryParameter) -> String? { values[name.rawValue] }
}
