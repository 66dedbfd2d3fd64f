import Foundation

/// A path as the system's bytes, which need not be UTF-8.
struct RawPath: Sendable {
    /// The bytes, without a zero.
    let bytes: [UInt8]

    /// The path as printed: bytes that are not UTF-8 become `�`.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// A path of those bytes.
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// An argument of the command line; if its text was repaired, the original bytes are looked up.
    init(argument: String) {
        let own = CommandLine.unsafeArgv
        var bytes = Array(argument.utf8)
        if argument.contains("\u{fffd}") {
            for index in 0..<Int(CommandLine.argc) {
                guard let raw = own[index], String(cString: raw) == argument else { continue }
                bytes = RawPath.bytes(of: raw)
            }
        }
        self.bytes = bytes
    }

    /// The entry with that name in this folder.
    func appending(_ name: [UInt8]) -> RawPath {
        RawPath((bytes.last == UInt8(ascii: "/") ? bytes : bytes + [UInt8(ascii: "/")]) + name)
    }

    /// Whether the last component starts with this byte.
    func nameStarts(with byte: UInt8) -> Bool {
        (bytes.lastIndex(of: UInt8(ascii: "/")).map { bytes[($0 + 1)...] } ?? bytes[...]).first
            == byte
    }

    /// Calls the system with the path.
    func withSystemPath<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        let text = bytes.map { CChar(bitPattern: $0) } + [0]
        return text.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { preconditionFailure("a text has an end") }
            return body(start)
        }
    }

    /// The bytes of a C string.
    static func bytes(of text: UnsafePointer<CChar>) -> [UInt8] {
        (0..<strlen(text)).map { UInt8(bitPattern: text[$0]) }
    }

    /// The type of the file there, following links; nil if there is none.
    var kind: FileKind? { FileStatus(self, followsLinks: true)?.kind }

    /// Whether it is a link itself.
    var isLink: Bool { FileStatus(self, followsLinks: false)?.kind == .link }
}
