internal import Events

/// Writes one JSON object, with members in the order in which they are added.
///
/// Apple's payloads contain only texts, whole numbers and booleans, and a ledger keeps their bytes,
/// so they are written here rather than by an encoder whose output may change.
struct JSONWriter {
    private(set) var bytes: [UInt8] = [UInt8(ascii: "{")]
    private let pace: SimulatedPace

    /// An empty object that converts instants to that pace.
    init(_ pace: SimulatedPace = .calendar) {
        self.pace = pace
    }

    /// The finished object.
    var object: [UInt8] { bytes + [UInt8(ascii: "}")] }

    mutating func add(_ name: StaticString, _ text: String?) {
        guard let text else { return }
        key(name)
        quote(text.utf8)
    }

    mutating func add(_ name: StaticString, _ number: Int64?) {
        guard let number else { return }
        key(name)
        bytes.append(contentsOf: String(number).utf8)
    }

    mutating func add(_ name: StaticString, _ flag: Bool?) {
        guard let flag else { return }
        key(name)
        bytes.append(contentsOf: (flag ? "true" : "false").utf8)
    }

    mutating func add(_ name: StaticString, _ instant: Instant?) {
        add(name, instant.map { pace.date($0).milliseconds })
    }

    /// The instant of a signature, with its real milliseconds.
    mutating func add(_ name: StaticString, signedAt instant: Instant) {
        add(name, pace.real(instant).milliseconds)
    }

    /// Text that needs no escaping, such as a compact JWS.
    mutating func add(_ name: StaticString, plain text: [UInt8]) {
        key(name)
        quote(plain: text)
    }

    /// A finished object.
    mutating func add(_ name: StaticString, object: [UInt8]) {
        key(name)
        bytes.append(contentsOf: object)
    }

    mutating func add(_ name: StaticString, plainTexts texts: [[UInt8]]) {
        key(name)
        list(texts) { writer, text in writer.quote(plain: text) }
    }

    mutating func add(_ name: StaticString, objects: [[UInt8]]) {
        key(name)
        list(objects) { writer, object in writer.bytes.append(contentsOf: object) }
    }

    /// A name with a suffix, and a finished value: old formats have groups of similar names.
    mutating func add(_ name: StaticString, suffix: StaticString, json value: [UInt8]) {
        key(name, suffix: suffix)
        bytes.append(contentsOf: value)
    }

    /// The JSON of a text.
    static func json(text: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.quote(text.utf8)
        return Array(writer.bytes.dropFirst())
    }

    private mutating func key(_ name: StaticString, suffix: StaticString = "") {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        quote(plain: name.withUTF8Buffer { Array($0) } + suffix.withUTF8Buffer { Array($0) })
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func list(
        _ items: [[UInt8]],
        write: (inout JSONWriter, [UInt8]) -> Void
    ) {
        bytes.append(UInt8(ascii: "["))
        for (index, item) in items.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            write(&self, item)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    private mutating func quote(plain text: [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: text)
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func quote(_ text: String.UTF8View) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0..<0x20:
                bytes.append(contentsOf: "\\u00".utf8)
                bytes.append(UInt8(ascii: byte < 16 ? "0" : "1"))
                bytes.append(contentsOf: String(byte & 15, radix: 16).utf8)
            default:
                bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
